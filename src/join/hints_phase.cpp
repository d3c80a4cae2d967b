// See hints_phase.h.
#include "join/hints_phase.h"

#include "join/join_threads.h"
#include "join/rules_phase.h"
#include "util/threads.h"

namespace ibd {

Result<HintsEnd> HintsPhase::Run(const MakeHintsWriter& make_writer)
{
    IBD_RETURN_IF_ERROR(Begin(static_cast<bool>(make_writer)));
    m_job.Enter(JoinProgress::Phase::kJoining);
    IBD_RETURN_IF_ERROR(JoinPartitions());
    HintsEnd end = End();
    if (end.interrupted) return end;
    // Check for write errors before a problem is believed: a failed writer has not joined
    // everything.
    if (m_pairs) {
        IBD_ASSIGN_OR_RETURN(end.pairs, m_pairs->Finish());
    }
    if (m_values) {
        IBD_ASSIGN_OR_RETURN(end.values, m_values->Finish());
    }
    if (end.problem || end.crowded) return end;
    IBD_RETURN_IF_ERROR(WriteBeside(make_writer, end));
    end.interrupted = m_job.stop;
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
    if (!m_state.pairs && !m_state.values) return {};
    m_ranges = m_state.MakingRanges();
    const SpillOwner owner = m_state.OwnerOf(m_ranges->Count());
    if (m_state.pairs) {
        m_pairs.emplace(m_job.env, directory, next_spill, owner, SpillUse::kKept);
    }
    if (m_state.values) {
        m_values.emplace(m_job.env, directory, kPassingSpills, owner, SpillUse::kPassing);
    }
    return {};
}

/** Writes the hints while other threads check the rules, which takes longer. */
Result<> HintsPhase::WriteBeside(const MakeHintsWriter& make_writer, HintsEnd& end)
{
    Result<> written, checked;
    const auto write = [&] {
        if (make_writer) written = WriteHints(make_writer);
    };
    {
        NamedThread writer;
        if (m_values && m_job.options.background) {
            writer = NamedThread("join-hints", write);
        } else {
            if (make_writer) m_job.Enter(JoinProgress::Phase::kWriting);
            write();
        }
        if (m_values) checked = CheckRules(end);
    }
    return written ? checked : written;
}

Result<> HintsPhase::CheckRules(HintsEnd& end)
{
    IBD_ASSIGN_OR_RETURN(end.rules_kept, RulesPhase(m_job, m_state, end.values).Run());
    for (const SpillInfo& spill : end.values) {
        IBD_RETURN_IF_ERROR(m_job.env.Remove(SpillPath(m_job.options.directory, spill.number)));
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
    IBD_ASSIGN_OR_RETURN(const auto out, make_writer());
    IBD_RETURN_IF_ERROR(m_bits.Write(unspent, *out));
    return out->Finish(m_job.terminal.hash);
}

/** One thread's share, with its collectors. */
template <typename Record>
class HintsPhase::Worker {
public:
    Worker(HintsPhase& phase, const SpillReader& spills)
        : m_phase(phase), m_join(spills, JoinBytes(phase.m_job.options), PairedIfWanted())
    {
        const size_t bytes = CollectorBytes(JoinBytes(phase.m_job.options) / 4);
        if (phase.m_numbers) m_numbers.emplace(phase.m_bits, *phase.m_numbers);
        if (phase.m_pairs) m_pairs.emplace(*phase.m_ranges, bytes).SetSink(&*phase.m_pairs);
        if (phase.m_values) m_values.emplace(*phase.m_ranges, bytes).SetSink(&*phase.m_values);
    }

    Result<> Run();

private:
    typename PartitionJoin<Record>::Paired PairedIfWanted()
    {
        if (!m_phase.m_ranges) return {};
        return [this](const Record& made, const Record& spent) { Take(made, spent); };
    }
    void Take(const Record& made, const Record& spent)
    {
        if (m_pairs) m_written = m_pairs->Add(made, spent) && m_written;
        if constexpr (std::is_same_v<Record, ValuedRecord>) {
            if (m_values) m_written = m_values->Met(made, spent) && m_written;
        }
    }

    HintsPhase& m_phase;
    PartitionJoin<Record> m_join;
    std::optional<HintBits::Collector> m_numbers;
    std::optional<PairCollector> m_pairs;
    std::optional<ValueCollector> m_values;
    bool m_written = true;
};

template <typename Record>
Result<> HintsPhase::Worker<Record>::Run()
{
    const uint32_t partitions = m_phase.m_state.Owner().partitions;
    const auto unspent = [&](const Record& created) {
        if (m_numbers) m_numbers->Add(created.Height(), created.Index());
    };
    while (!m_phase.m_job.stop && m_written) { // Finish() reports why a write failed
        const uint32_t partition = m_phase.m_next.fetch_add(1, std::memory_order_relaxed);
        if (partition >= partitions) break;
        if (const Result<> done = m_join.Run(partition, unspent); !done) {
            m_phase.m_next = partitions; // ends the other workers
            return done;
        }
        if (m_join.IsCrowded()) m_phase.m_next = partitions;
        m_phase.m_job.joined.fetch_add(1, std::memory_order_relaxed);
    }
    if (m_numbers) m_numbers->Flush();
    if (m_pairs) (void)m_pairs->Flush();
    if (m_values) (void)m_values->Flush();
    m_phase.Take(m_join.FirstProblem(), m_join.IsCrowded(), m_numbers ? m_numbers->Count() : 0);
    return {};
}

Result<> HintsPhase::JoinPartitions()
{
    IBD_ASSIGN_OR_RETURN(const auto spills, SpillReader::Open(m_job.env, m_job.options.directory,
                                                              m_state.spills, m_state.Owner()));
    m_job.log.Info("Join: joining {} MB of spills in {} partitions; {} of {} records met in memory",
                   spills.TotalBytes() / 1'000'000, m_state.Owner().partitions, m_state.met,
                   m_state.records);
    JoinMeter meter(m_job,
                    {.label = "Join: joining",
                     .unit = "partitions",
                     .total = m_state.Owner().partitions,
                     .step = WorkStep::kJoin},
                    [this] { return uint64_t{m_job.joined}; });
    return RunJoinThreads(m_job, meter, [&] {
        return m_state.values ? Worker<ValuedRecord>(*this, spills).Run()
                              : Worker<JoinRecord>(*this, spills).Run();
    });
}

HintsEnd HintsPhase::End()
{
    const Lock lock(m_mutex);
    m_end.interrupted = m_job.stop;
    return m_end;
}

void HintsPhase::Take(const std::optional<JoinRecord>& problem, bool crowded, uint64_t unspent)
{
    const Lock lock(m_mutex);
    m_end.crowded = m_end.crowded || crowded;
    m_end.unspent += unspent;
    if (!problem) return;
    if (!m_end.problem || problem->Event() < m_end.problem->Event()) m_end.problem = problem;
}

} // namespace ibd
