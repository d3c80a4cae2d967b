// See fetch_phase.h.
#include "join/fetch_phase.h"

#include "join/coin_record.h"
#include "join/join_threads.h"
#include "join/spend_pair.h"

#include <algorithm>

namespace ibd {

namespace {

/** Pairs ahead that are asked to be brought near: they lie in the order of their finding. */
constexpr size_t kAhead = 12;

/** Half of a thread's memory for pairs, which need a quarter more to be grouped. */
size_t MostPairBytes(const JoinOptions& options) { return JoinBytes(options) / 2; }

} // namespace

/** One thread's share. */
class FetchPhase::Worker {
public:
    Worker(FetchPhase& phase, const SpillReader& pairs)
        : m_phase(phase), m_spills(pairs), m_pairs(SpendPair::SizeOf),
          m_blocks(phase.m_job.env, phase.m_store, phase.m_job.terminal, phase.m_places,
                   phase.m_state.checksums),
          m_coins(phase.m_spending.Count(), CollectorBytes(JoinBytes(phase.m_job.options) / 4))
    {
        m_coins.SetSink(&phase.m_task.coins);
    }

    Result<> FetchRange(uint32_t range);
    bool Flush() { return m_coins.Flush(); }
    /** False: the spills of coins have failed, and who finishes them says why. */
    bool Written() const { return m_written; }

private:
    bool IsWanted(uint32_t height) const;
    Result<> FetchBlock(const HeaderNode& node, const PlainBlock& block);
    Result<> TakeSpenders(const HeaderNode& node, size_t outputs);
    void TakeOutput(const OutputView& output, uint32_t height, bool coinbase, uint32_t index);

    FetchPhase& m_phase;
    const SpillReader& m_spills;
    SpanRecords m_pairs;
    SpanBlocks m_blocks;
    RangeCollector m_coins;
    bool m_written = true;
    std::vector<uint64_t> m_spenders; //!< by number of the output in the block: the input's place
};

Result<> FetchPhase::Worker::FetchRange(uint32_t range)
{
    const HeightSpan whole = m_phase.m_making.Span(range);
    const size_t most = MostPairBytes(m_phase.m_job.options);
    IBD_ASSIGN_OR_RETURN(const auto spans,
                         CutRange(m_spills, range, whole, SpendPair::SizeOf, most));
    for (const auto& [heights, bytes] : spans) {
        const HeightSpan span = Common(heights, m_phase.m_task.made);
        if (span.Blocks() == 0) continue;
        IBD_RETURN_IF_ERROR(m_pairs.Load(m_spills, range, span, bytes));
        if (m_pairs.Bytes() == 0) continue;
        IBD_RETURN_IF_ERROR(m_blocks.ForEach(
            span, [&](uint32_t height) { return IsWanted(height); },
            [&](const HeaderNode& node, const PlainBlock& block) {
                return FetchBlock(node, block);
            }));
        if (!m_written || m_phase.m_job.stop) break;
    }
    return {};
}

/** Whether the block makes a coin that is. */
bool FetchPhase::Worker::IsWanted(uint32_t height) const
{
    const auto offsets = m_pairs.At(height);
    return std::any_of(offsets.begin(), offsets.end(), [&](uint32_t offset) {
        const uint64_t spent = SpendPair::At(m_pairs.Data() + offset).spent;
        return m_phase.m_task.spent.Contains(JoinRecord::HeightOf(spent));
    });
}

/** Outputs are numbered as JoinWorker numbers them. */
Result<> FetchPhase::Worker::FetchBlock(const HeaderNode& node, const PlainBlock& block)
{
    const auto height = static_cast<uint32_t>(node.height);
    IBD_RETURN_IF_ERROR(TakeSpenders(node, m_phase.m_state.outputs[height]));
    const bool overwritten = m_phase.m_job.rules.IsOverwritten(height);
    uint32_t index = 0;
    bool coinbase = true;
    for (const TxView& tx : block.Txs()) {
        const bool gone = coinbase && overwritten;
        for (size_t i = 0; i < tx.outputs.size() && !gone; ++i) {
            if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
            TakeOutput(tx.outputs[i], height, coinbase, index++);
        }
        coinbase = false;
    }
    m_phase.m_job.fetched_bytes.fetch_add(block.Raw().size(), std::memory_order_relaxed);
    return {};
}

Result<> FetchPhase::Worker::TakeSpenders(const HeaderNode& node, size_t outputs)
{
    m_spenders.assign(outputs, 0);
    const auto offsets = m_pairs.At(static_cast<uint32_t>(node.height));
    for (size_t i = 0; i < offsets.size(); ++i) {
        const uint32_t offset = offsets[i];
        if (i + kAhead < offsets.size()) __builtin_prefetch(m_pairs.Data() + offsets[i + kAhead]);
        const SpendPair pair = SpendPair::At(m_pairs.Data() + offset);
        const uint32_t index = JoinRecord::IndexOf(pair.made);
        if (index >= outputs || m_spenders[index] != 0 ||
            JoinRecord::HeightOf(pair.spent) > m_phase.m_spending.Top()) {
            return BadData("block at height {}: output {} is spent twice, or not there",
                           node.height, index);
        }
        if (m_phase.m_task.spent.Contains(JoinRecord::HeightOf(pair.spent))) {
            m_spenders[index] = pair.spent;
        }
    }
    return {};
}

void FetchPhase::Worker::TakeOutput(const OutputView& output, uint32_t height, bool coinbase,
                                    uint32_t index)
{
    const uint64_t spender = index < m_spenders.size() ? m_spenders[index] : 0;
    if (spender == 0) return;
    const uint8_t* const end = PutCoinRecord(m_coins.Room(), spender, output, height, coinbase);
    const uint32_t range = m_phase.m_spending.Of(JoinRecord::HeightOf(spender));
    m_written = m_coins.Close(range, end) && m_written;
}

FetchPhase::FetchPhase(JoinJob& job, const BlockStore& store, const BlockPlaces& places,
                       const JoinState& state, const FetchTask& task)
    : m_job(job), m_store(store), m_places(places), m_state(state), m_task(task),
      m_making(state.MakingRanges()), m_spending(state.SpendingRanges()),
      m_end(task.made.Blocks() == 0 ? 0 : m_making.Of(task.made.end - 1) + 1),
      m_next(task.made.Blocks() == 0 ? 0 : m_making.Of(task.made.first))
{
}

Result<bool> FetchPhase::Run(JoinMeter& meter)
{
    IBD_ASSIGN_OR_RETURN(const auto pairs,
                         SpillReader::Open(m_job.env, m_job.options.directory, m_state.pair_spills,
                                           m_state.OwnerOf(m_making.Count())));
    IBD_RETURN_IF_ERROR(RunJoinThreads(m_job, meter, [&] { return Work(pairs); }));
    return !m_job.stop;
}

Result<> FetchPhase::Work(const SpillReader& pairs)
{
    Worker worker(*this, pairs);
    while (!m_job.stop && worker.Written()) {
        const uint32_t range = m_next.fetch_add(1, std::memory_order_relaxed);
        if (range >= m_end) break;
        if (const Result<> done = worker.FetchRange(range); !done) {
            m_next = m_end; // nobody gets another
            return done;
        }
    }
    (void)worker.Flush();
    return {};
}

} // namespace ibd
