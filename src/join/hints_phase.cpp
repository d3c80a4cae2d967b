// See hints_phase.h.
#include "join/hints_phase.h"

#include "join/join_threads.h"

namespace ibd {

Result<HintsEnd> HintsPhase::Run(const MakeHintsWriter& make_writer)
{
    IBD_RETURN_IF_ERROR(Begin(static_cast<bool>(make_writer)));
    m_job.Enter(JoinProgress::Phase::kJoining);
    IBD_RETURN_IF_ERROR(JoinPartitions());
    HintsEnd end = End();
    if (end.problem || end.interrupted) return end;
    if (make_writer) IBD_RETURN_IF_ERROR(WriteHints(make_writer));
    if (m_pairs) {
        IBD_ASSIGN_OR_RETURN(end.pairs, m_pairs->Finish());
    }
    return end;
}

Result<> HintsPhase::Begin(bool hints)
{
    const Path& directory = m_job.options.directory;
    uint32_t next_spill = m_state.NextSpillNumber();
    if (hints) {
        IBD_ASSIGN_OR_RETURN(m_numbers, SpillWriter::Create(m_job.env, directory, next_spill++,
                                                            m_state.OwnerOf(m_bits.Ranges()),
                                                            SpillUse::kPassing));
    }
    if (m_state.pairs) {
        m_ranges = m_state.MakingRanges();
        m_pairs.emplace(m_job.env, directory, next_spill, m_state.OwnerOf(m_ranges->Count()),
                        SpillUse::kKept);
    }
    return {};
}

Result<> HintsPhase::WriteHints(const MakeHintsWriter& make_writer)
{
    IBD_ASSIGN_OR_RETURN(WrittenSpill written, m_numbers->Finish());
    written.file.reset();
    const SpillInfo infos[] = {written.info};
    IBD_ASSIGN_OR_RETURN(const auto unspent,
                         SpillReader::Open(m_job.env, m_job.options.directory, infos,
                                           m_state.OwnerOf(m_bits.Ranges())));
    m_job.Enter(JoinProgress::Phase::kWriting);
    IBD_ASSIGN_OR_RETURN(const auto out, make_writer());
    IBD_RETURN_IF_ERROR(m_bits.Write(unspent, *out));
    return out->Finish(m_job.terminal.hash);
}

Result<> HintsPhase::JoinPartitions()
{
    IBD_ASSIGN_OR_RETURN(const auto spills, SpillReader::Open(m_job.env, m_job.options.directory,
                                                              m_state.spills, m_state.Owner()));
    m_job.log.Info("Join: joining {} MB of spills in {} partitions; {} of {} records met in memory",
                   spills.TotalBytes() / 1'000'000, m_state.Owner().partitions, m_state.met,
                   m_state.records);
    JoinMeter meter(
        m_job,
        {.label = "Join: joining", .unit = "partitions", .total = m_state.Owner().partitions},
        [this] { return uint64_t{m_job.joined}; });
    return RunJoinThreads(m_job, meter, [&] { return Work(spills); });
}

Result<> HintsPhase::Work(const SpillReader& spills)
{
    const uint32_t partitions = m_state.Owner().partitions;
    std::optional<HintBits::Collector> numbers;
    if (m_numbers) numbers.emplace(m_bits, *m_numbers);
    std::optional<PairCollector> pairs;
    PartitionJoin::Paired paired;
    bool written = true;
    if (m_pairs) {
        pairs.emplace(*m_ranges, CollectorBytes(JoinBytes(m_job.options) / 8));
        pairs->SetSink(&*m_pairs);
        paired = [&](const JoinRecord& made, const JoinRecord& spent) {
            written = pairs->Add(made, spent) && written;
        };
    }
    PartitionJoin join(spills, JoinBytes(m_job.options), paired);
    const auto unspent = [&](const JoinRecord& created) {
        if (numbers) numbers->Add(created.Height(), created.Index());
    };
    while (!m_job.stop && written) { // Finish() says why it was not
        const uint32_t partition = m_next.fetch_add(1, std::memory_order_relaxed);
        if (partition >= partitions) break;
        if (const Result<> done = join.Run(partition, unspent); !done) {
            m_next = partitions; // nobody gets another
            return done;
        }
        m_job.joined.fetch_add(1, std::memory_order_relaxed);
    }
    if (numbers) numbers->Flush();
    if (pairs) (void)pairs->Flush();
    Take(join.FirstProblem(), numbers ? numbers->Count() : 0);
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
    if (!m_end.problem || problem->Event() < m_end.problem->Event()) m_end.problem = problem;
}

} // namespace ibd
