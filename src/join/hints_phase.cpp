// See hints_phase.h.
#include "join/hints_phase.h"

#include "join/read_phase.h"
#include "util/progress.h"
#include "util/watched_threads.h"

namespace ibd {

Result<HintsEnd> HintsPhase::Run(const MakeHintsWriter& make_writer)
{
    const Path& directory = m_job.options.directory;
    const HintBits bits(m_state.outputs, m_job.options.memory_bytes / 2);
    const SpillOwner owner{m_state.Owner().join_id, bits.Ranges()};
    IBD_ASSIGN_OR_RETURN(const auto numbers,
                         SpillWriter::Create(m_job.env, directory, m_state.NextSpillNumber(),
                                             owner));
    m_job.Enter(JoinProgress::Phase::kJoining);
    IBD_RETURN_IF_ERROR(JoinPartitions(bits, *numbers));
    const HintsEnd end = End();
    if (end.problem || end.interrupted) return end;
    IBD_ASSIGN_OR_RETURN(WrittenSpill written, numbers->Finish());
    written.file.reset(); // of no use after a crash, so it is not synced
    const SpillInfo infos[] = {written.info};
    IBD_ASSIGN_OR_RETURN(const auto unspent,
                         SpillReader::Open(m_job.env, directory, infos, owner));
    m_job.Enter(JoinProgress::Phase::kWriting);
    IBD_ASSIGN_OR_RETURN(const auto out, make_writer());
    IBD_RETURN_IF_ERROR(bits.Write(unspent, *out));
    IBD_RETURN_IF_ERROR(out->Finish(m_job.terminal.hash));
    return end;
}

Result<> HintsPhase::JoinPartitions(const HintBits& bits, SpillWriter& numbers)
{
    IBD_ASSIGN_OR_RETURN(const auto spills,
                         SpillReader::Open(m_job.env, m_job.options.directory, m_state.spills,
                                           m_state.Owner()));
    m_job.log.Info("Join: joining {} MB of spills in {} partitions; {} of {} records met in memory",
                   spills.TotalBytes() / 1'000'000, m_state.Owner().partitions, m_state.met,
                   m_state.records);
    if (!m_job.options.background) return Work(spills, bits, numbers);
    ProgressMeter meter(m_job.env, m_job.log,
                        {.label = "Join: joining",
                         .unit = "partitions",
                         .total = m_state.Owner().partitions,
                         .tty = m_job.options.tty});
    const auto body = [&](size_t) {
        const Result<> done = Work(spills, bits, numbers);
        if (done) return;
        m_next = m_state.Owner().partitions; // nobody gets another
        const Lock lock(m_mutex);
        if (m_status) m_status = done;
    };
    RunWatched("join", JoinThreads(m_job.options), body, [&] { meter.Update(m_job.joined); });
    const Lock lock(m_mutex);
    return m_status;
}

Result<> HintsPhase::Work(const SpillReader& spills, const HintBits& bits, SpillWriter& numbers)
{
    const uint32_t partitions = m_state.Owner().partitions;
    PartitionJoin join(spills, JoinBytes(m_job.options));
    HintBits::Collector collector(bits, numbers);
    const auto unspent = [&](const JoinRecord& created) {
        collector.Add(created.Height(), created.Index());
    };
    while (!m_job.stop) {
        const uint32_t partition = m_next.fetch_add(1, std::memory_order_relaxed);
        if (partition >= partitions) break;
        IBD_RETURN_IF_ERROR(join.Run(partition, unspent));
        m_job.joined.fetch_add(1, std::memory_order_relaxed);
    }
    collector.Flush();
    Take(join.FirstProblem(), collector.Count());
    return {};
}

HintsEnd HintsPhase::End()
{
    const Lock lock(m_mutex);
    m_end.interrupted = m_job.stop;
    return m_end;
}

void HintsPhase::Take(const std::optional<JoinRecord>& problem, uint64_t unspent)
{
    const Lock lock(m_mutex);
    m_end.unspent += unspent;
    if (!problem) return;
    if (!m_end.problem || problem->event < m_end.problem->event) m_end.problem = problem;
}

} // namespace ibd
