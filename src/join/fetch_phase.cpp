// See fetch_phase.h.
#include "join/fetch_phase.h"

#include "join/block_outline.h"
#include "join/coin_record.h"
#include "join/join_threads.h"
#include "join/spend_pair.h"
#include "join/spill_series.h"
#include "swiftsync/side_fold.h"
#include "util/found.h"

#include <algorithm>

namespace ibd {

/** One thread's share. */
class FetchPhase::Worker {
public:
    Worker(const FetchPhase& phase, const FetchTask& task, size_t number)
        : m_phase(phase), m_task(task), m_number(number), m_spills(*phase.m_pairs),
          m_pairs(SpendPair::SizeOf),
          m_blocks(phase.m_job.env, phase.m_store, phase.m_job.params.consensus,
                   phase.m_job.terminal, phase.m_places, phase.m_state.checksums),
          m_coins(phase.m_spending.Count(), CollectorBytes(JoinBytes(phase.m_job.options) / 4))
    {
        m_coins.SetSink(&task.coins);
    }

    Result<> FetchRange(uint32_t range);
    bool Flush() { return m_coins.Flush(); }
    /** False: writing a spill of coins has failed; finishing the spills reports why. */
    bool Written() const { return m_written; }

private:
    bool IsWanted(uint32_t height) const;
    Result<> FetchBlock(const HeaderNode& node, PlainBlock& block);
    Result<> TakeSpenders(const HeaderNode& node, size_t outputs);
    void TakeOutput(const OutputView& output, uint32_t height, bool coinbase, uint32_t index);
    void TakeOutline(const PlainBlock& block, uint32_t height);
    void Close(uint32_t height, const uint8_t* end);

    const FetchPhase& m_phase;
    const FetchTask& m_task;
    const size_t m_number;
    const SpillReader& m_spills;
    SpanRecords m_pairs;
    SpanBlocks m_blocks;
    RangeCollector m_coins;
    bool m_written = true;
    std::vector<uint64_t> m_spenders; //!< place of the spending input by number of the output
    BlockOutline m_outline;           //!< of the current block
    Bytes m_encoded;                  //!< of the current block
};

Result<> FetchPhase::Worker::FetchRange(uint32_t range)
{
    const HeightSpan whole = m_phase.m_making.Span(range);
    const size_t most = MostGroupedBytes(m_phase.m_job.options);
    IBD_ASSIGN_OR_RETURN(const auto spans,
                         CutRange(m_spills, range, whole, SpendPair::SizeOf, most));
    for (const auto& [heights, bytes] : spans) {
        const HeightSpan span = Common(heights, m_task.made);
        if (span.Blocks() == 0) continue;
        IBD_RETURN_IF_ERROR(m_pairs.Load(m_spills, range, span, bytes));
        if (m_pairs.Bytes() == 0) continue;
        IBD_RETURN_IF_ERROR(m_blocks.ForEach(
            span, [&](uint32_t height) { return IsWanted(height); },
            [&](const HeaderNode& node, PlainBlock& block) { return FetchBlock(node, block); }));
        if (!m_written || m_phase.m_job.stop) break;
    }
    return {};
}

/** Whether the block makes a wanted coin. */
bool FetchPhase::Worker::IsWanted(uint32_t height) const
{
    const auto offsets = m_pairs.At(height);
    return std::any_of(offsets.begin(), offsets.end(), [&](uint32_t offset) {
        const uint64_t spent = SpendPair::At(m_pairs.Data() + offset).spent;
        return m_task.spent.Contains(JoinRecord::HeightOf(spent));
    });
}

/** Numbers outputs as JoinWorker does. */
Result<> FetchPhase::Worker::FetchBlock(const HeaderNode& node, PlainBlock& block)
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
    if (m_task.outlines != OutlineUse::kNone) TakeOutline(block, height);
    if (m_task.side_fold) m_task.side_fold->Take(m_number, node, block);
    m_phase.m_job.fetched_bytes.fetch_add(block.Raw().size(), std::memory_order_relaxed);
    return {};
}

Result<> FetchPhase::Worker::TakeSpenders(const HeaderNode& node, size_t outputs)
{
    m_spenders.assign(outputs, 0);
    const auto offsets = m_pairs.At(static_cast<uint32_t>(node.height));
    for (size_t i = 0; i < offsets.size(); ++i) {
        const uint32_t offset = offsets[i];
        if (i + kRecordsAhead < offsets.size())
            __builtin_prefetch(m_pairs.Data() + offsets[i + kRecordsAhead]);
        const SpendPair pair = SpendPair::At(m_pairs.Data() + offset);
        const uint32_t index = JoinRecord::IndexOf(pair.made);
        if (index >= outputs || m_spenders[index] != 0 ||
            JoinRecord::HeightOf(pair.spent) > m_phase.m_spending.Top()) {
            return BadData("block at height {}: output {} is spent twice, or not there",
                           node.height, index);
        }
        if (m_task.spent.Contains(JoinRecord::HeightOf(pair.spent))) {
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
    Close(JoinRecord::HeightOf(spender),
          PutCoinRecord(m_coins.Room(), spender, output, height, coinbase));
}

/** Uses counts alone if a page has no space for the full outline. */
void FetchPhase::Worker::TakeOutline(const PlainBlock& block, uint32_t height)
{
    constexpr size_t kRoom = PageSink::kMaxPageBytes - kCoinHeadBytes;
    m_encoded.clear();
    if (m_task.outlines == OutlineUse::kAll) {
        m_outline.TakeAll(block.Txs());
        m_outline.Encode(m_encoded);
    }
    if (m_encoded.empty() || m_encoded.size() > kRoom) {
        m_encoded.clear();
        m_outline.TakeCounts(block.Txs());
        m_outline.Encode(m_encoded);
    }
    CHECK(m_encoded.size() <= kRoom); // 16,666 of 60 bytes
    Close(height, PutOutlineRecord(m_coins.Room(), height, m_encoded));
}

/** Closes the record, which ends at `end`, of a block at `height`. */
void FetchPhase::Worker::Close(uint32_t height, const uint8_t* end)
{
    m_written = m_coins.Close(m_phase.m_spending.Of(height), end) && m_written;
}

FetchPhase::FetchPhase(JoinJob& job, const BlockStore& store, const BlockPlaces& places,
                       const JoinState& state)
    : m_job(job), m_store(store), m_places(places), m_state(state), m_making(state.MakingRanges()),
      m_spending(state.SpendingRanges())
{
}

Result<bool> FetchPhase::Run(const FetchTask& task, JoinMeter& meter)
{
    if (task.made.Blocks() == 0) return !m_job.stop;
    if (!m_pairs) {
        IBD_ASSIGN_OR_RETURN(m_pairs, SpillReader::Open(m_job.env, m_job.options.directory,
                                                        m_state.pair_spills,
                                                        m_state.OwnerOf(m_making.Count())));
    }
    m_next = m_making.Of(task.made.first);
    m_workers = 0;
    const uint32_t end = m_making.Of(task.made.end - 1) + 1;
    IBD_RETURN_IF_ERROR(RunJoinThreads(m_job, meter, [&] { return Work(task, end); }));
    return !m_job.stop;
}

Found<std::vector<SpillInfo>> FetchPhase::RunAlone(HeightSpan made, HeightSpan spent,
                                                   uint32_t first_spill, SpillUse use)
{
    m_job.Enter(JoinProgress::Phase::kFetching);
    SpillSeries coins(m_job.env, m_job.options.directory, first_spill,
                      m_state.OwnerOf(m_spending.Count()), use);
    JoinMeter meter(m_job,
                    {.label = "Undo: fetching",
                     .unit = "bytes",
                     .total = m_job.total_bytes,
                     .step = WorkStep::kFetchCoins},
                    [this] { return m_job.fetched_bytes.load(); });
    IBD_ASSIGN_OR_RETURN(const bool done, Run({made, spent, coins}, meter));
    if (!done) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(auto spills, coins.Finish());
    return std::optional(std::move(spills));
}

/** Works on ranges of blocks that make coins, below `end`. */
Result<> FetchPhase::Work(const FetchTask& task, uint32_t end)
{
    Worker worker(*this, task, m_workers++);
    while (!m_job.stop && worker.Written()) {
        const uint32_t range = m_next.fetch_add(1, std::memory_order_relaxed);
        if (range >= end) break;
        if (const Result<> done = worker.FetchRange(range); !done) {
            m_next = end; // ends the other workers
            return done;
        }
    }
    (void)worker.Flush();
    return {};
}

} // namespace ibd
