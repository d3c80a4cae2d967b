// See rules_phase.h.
#include "join/rules_phase.h"

#include "join/block_account.h"
#include "join/join_threads.h"
#include "join/span_records.h"

#include <algorithm>

namespace ibd {

/** One thread's share. */
class RulesPhase::Worker {
public:
    Worker(RulesPhase& phase, const SpillReader& spills)
        : m_phase(phase), m_spills(spills), m_records(ValueRecord::SizeOf),
          m_check(phase.m_job.params.consensus)
    {
    }

    Result<> CheckRange(uint32_t range);

private:
    Result<> CheckBlock(uint32_t height);
    void Gather(uint32_t height);

    RulesPhase& m_phase;
    const SpillReader& m_spills;
    SpanRecords m_records;
    AccountCheck m_check;
    // The current block.
    std::vector<ByteSpan> m_pieces;      //!< of its account, by number
    std::vector<ValueRecord> m_by_input; //!< spent_at is 0 where there is none
    std::vector<ValueRecord> m_coins;
    Bytes m_account;
};

Result<> RulesPhase::Worker::CheckRange(uint32_t range)
{
    const HeightSpan whole = m_phase.m_ranges.Span(range);
    IBD_ASSIGN_OR_RETURN(const auto spans, CutRange(m_spills, range, whole, ValueRecord::SizeOf,
                                                    MostGroupedBytes(m_phase.m_job.options)));
    for (const auto& [heights, bytes] : spans) {
        IBD_RETURN_IF_ERROR(m_records.Load(m_spills, range, heights, bytes));
        for (uint32_t height = std::max(heights.first, 1u); height < heights.end; ++height) {
            if (m_phase.m_job.stop || m_phase.m_broken) return {};
            IBD_RETURN_IF_ERROR(CheckBlock(height));
        }
    }
    return {};
}

Result<> RulesPhase::Worker::CheckBlock(uint32_t height)
{
    Gather(height);
    const HeaderNode& node = *m_phase.m_job.terminal.Ancestor(static_cast<int>(height));
    IBD_ASSIGN_OR_RETURN(const bool kept, m_check.KeepsRules(node, m_account, m_coins));
    if (!kept && !m_phase.m_broken.exchange(true)) {
        m_phase.m_job.log.Warning("Join: block {} at height {} seems to break a rule about the "
                                  "coins that it spends",
                                  node.hash.ToHex(), height);
    }
    m_phase.m_kept.fetch_add(1, std::memory_order_relaxed);
    return {};
}

/** Collects the account, and its missing coins in the order of the inputs. AccountCheck finds
 *  missing and surplus ones. */
void RulesPhase::Worker::Gather(uint32_t height)
{
    const auto offsets = m_records.At(height);
    m_pieces.clear();
    m_by_input.clear();
    for (size_t i = 0; i < offsets.size(); ++i) {
        if (i + kRecordsAhead < offsets.size())
            __builtin_prefetch(m_records.Data() + offsets[i + kRecordsAhead]);
        const uint8_t* const record = m_records.Data() + offsets[i];
        const uint32_t number = JoinRecord::IndexOf(JoinRecord::PlaceIn(record));
        if (ValueRecord::IsPiece(record)) {
            if (m_pieces.size() <= number) m_pieces.resize(number + 1);
            m_pieces[number] = m_records.RecordAt(offsets[i]).subspan(ValueRecord::kHeadBytes);
        } else {
            if (m_by_input.size() <= number) m_by_input.resize(number + 1);
            m_by_input[number] = ValueRecord::At(record);
        }
    }
    m_account.clear();
    for (const ByteSpan piece : m_pieces) Append(m_account, piece);
    m_coins.resize(m_by_input.size());
    size_t coins = 0;
    for (const ValueRecord& coin : m_by_input) {
        m_coins[coins] = coin;
        coins += coin.spent_at != 0; // no branch, because it could not be predicted
    }
    m_coins.resize(coins);
}

Result<bool> RulesPhase::Run()
{
    IBD_ASSIGN_OR_RETURN(const auto spills,
                         SpillReader::Open(m_job.env, m_job.options.directory, m_spills,
                                           m_state.OwnerOf(m_ranges.Count())));
    m_job.Enter(JoinProgress::Phase::kChecking);
    JoinMeter meter(m_job,
                    {.label = "Join: checking",
                     .unit = "blocks",
                     .total = static_cast<uint64_t>(m_job.terminal.height),
                     .step = WorkStep::kCheckRules},
                    [this] { return uint64_t{m_kept}; });
    IBD_RETURN_IF_ERROR(RunJoinThreads(m_job, meter, [&] { return Work(spills); }));
    return !m_broken;
}

Result<> RulesPhase::Work(const SpillReader& spills)
{
    Worker worker(*this, spills);
    while (!m_job.stop && !m_broken) {
        const uint32_t range = m_next.fetch_add(1, std::memory_order_relaxed);
        if (range >= m_ranges.Count()) break;
        if (const Result<> done = worker.CheckRange(range); !done) {
            m_next = m_ranges.Count(); // ends the other workers
            return done;
        }
    }
    return {};
}

} // namespace ibd
