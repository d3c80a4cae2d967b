// See undo_phase.h.
#include "join/undo_phase.h"

#include "crypto/sha256_batch.h"
#include "join/block_outline.h"
#include "join/coin_record.h"
#include "join/join_threads.h"
#include "join/spent_rules.h"
#include "util/found.h"

#include <numeric>

namespace ibd {

namespace {

/** The part of a thread's memory for coins. Offsets and assembled records take the same amount; the
 *  rest is for records that wait for their turn. */
size_t MostCoinBytes(const JoinOptions& options) { return JoinBytes(options) / 5 * 2; }
size_t MostWaitingBytes(const JoinOptions& options)
{
    return JoinBytes(options) / 5 * JoinThreads(options);
}

} // namespace

/** One thread's share. */
class UndoPhase::Worker {
public:
    Worker(UndoPhase& phase, const SpillReader& coins)
        : m_phase(phase), m_job(phase.m_job), m_spills(coins), m_coins(CoinRecordSize),
          m_blocks(m_job.env, phase.m_store, m_job.params.consensus, m_job.terminal, phase.m_places,
                   phase.m_state.checksums),
          m_rules(m_job.params, phase.m_store, phase.m_options)
    {
    }

    /** False: the work has ended. */
    Result<bool> WriteRange(uint32_t range);

private:
    Result<bool> WriteSpan(uint32_t range, const SizedSpan& cut);
    Result<> Build(uint32_t range, uint64_t bytes);
    Result<> BuildByOutlines();
    Result<> BuildBlock(const HeaderNode& node, const PlainBlock& block);
    UndoSpan::Record& RecordOf(uint32_t height) { return m_made.records[height - m_span.first]; }
    bool FindCoins(uint32_t height);
    Result<> RequireFit(uint32_t height, bool fits) const;
    bool KeepsRules(const HeaderNode& node);
    void MakeRecord(const HeaderNode& node);
    void AppendRecord();
    std::unique_ptr<ScatteredUndo> ScatterRecord() const;
    uint64_t SpentBytes() const;
    void AddChecksums();

    UndoPhase& m_phase;
    JoinJob& m_job;
    const SpillReader& m_spills;
    SpanRecords m_coins;
    SpanBlocks m_blocks;
    SpentRules m_rules;
    // The current span.
    HeightSpan m_span; //!< the heights of it whose records are wanted
    UndoSpan m_made;
    std::vector<HashMessage> m_messages; //!< input of the checksums
    std::vector<Hash32> m_checksums;
    // The current block.
    std::vector<ByteSpan> m_by_input;  //!< coins in undo form; at the coinbase's place the outline
    std::span<const ByteSpan> m_spent; //!< the coins in m_by_input
    BlockOutline m_outline;
};

Result<bool> UndoPhase::Worker::WriteRange(uint32_t range)
{
    const HeightSpan whole = m_phase.m_spending.Span(range);
    const size_t most = MostCoinBytes(m_job.options);
    IBD_ASSIGN_OR_RETURN(const auto spans, CutRange(m_spills, range, whole, CoinRecordSize, most));
    for (const SizedSpan& span : spans) {
        const bool too_large = span.bytes > most;
        if (too_large && !m_phase.m_handover.AwaitTurn(span.heights.first)) {
            return false; // one oversized block at a time
        }
        IBD_ASSIGN_OR_RETURN(const bool go_on, WriteSpan(range, span));
        if (!go_on) return false;
        if (too_large) m_coins.Release();
    }
    return true;
}

Result<bool> UndoPhase::Worker::WriteSpan(uint32_t range, const SizedSpan& cut)
{
    const HeightSpan span = cut.heights;
    if (span.Blocks() == 0) return true;
    m_span = span;
    m_span.first = std::max(span.first, static_cast<uint32_t>(m_phase.m_options.first_height));
    m_made = m_phase.m_handover.Spare();
    m_made.span = span;
    if (m_span.first < span.end) IBD_RETURN_IF_ERROR(Build(range, cut.bytes));
    if (m_job.stop) return false;
    if (m_phase.m_options.records) AddChecksums();
    return m_phase.m_handover.Give(std::move(m_made));
}

Result<> UndoPhase::Worker::Build(uint32_t range, uint64_t bytes)
{
    IBD_RETURN_IF_ERROR(m_coins.Load(m_spills, range, m_span, bytes));
    m_made.records.clear();
    m_made.records.resize(m_span.Blocks());
    const bool oversized =
        m_span.Blocks() == 1 && m_coins.Bytes() > m_phase.m_options.oversized_bytes;
    // A transaction's count of coins takes fewer bytes than the headers of its coins in the spill.
    if (!oversized && m_phase.m_options.records)
        m_made.bytes.reserve(m_coins.Bytes() + kCoinHeadBytes * m_span.Blocks());
    if (OutlinesOf(m_phase.m_options) != OutlineUse::kNone) IBD_RETURN_IF_ERROR(BuildByOutlines());
    return m_blocks.ForEach(
        m_span, [&](uint32_t height) { return !RecordOf(height).node; },
        [&](const HeaderNode& node, const PlainBlock& block) {
            return m_job.stop ? Result<>() : BuildBlock(node, block);
        });
}

/** Makes the records of blocks whose spilled outline suffices. */
Result<> UndoPhase::Worker::BuildByOutlines()
{
    for (uint32_t height = m_span.first; height < m_span.end && !m_job.stop; ++height) {
        const bool fits = FindCoins(height);
        if (m_by_input[kOutlineIndex].empty()) continue;
        IBD_RETURN_IF_ERROR(
            RequireFit(height, m_outline.Decode(m_by_input[kOutlineIndex]) && fits));
        const HeaderNode& node = *m_job.terminal.Ancestor(static_cast<int>(height));
        if (KeepsRules(node)) MakeRecord(node);
    }
    return {};
}

/** Checks the rules with the outline of the current block. False proves nothing. */
bool UndoPhase::Worker::KeepsRules(const HeaderNode& node)
{
    return m_phase.m_options.checks == UndoChecks::kNone ||
           m_outline.KeepsRules(node, m_job.params.consensus, m_spent);
}

Result<> UndoPhase::Worker::BuildBlock(const HeaderNode& node, const PlainBlock& block)
{
    if (m_made.broken && m_made.broken->height < node.height) return {};
    const auto height = static_cast<uint32_t>(node.height);
    const bool fits = FindCoins(height);
    m_outline.TakeCounts(block.Txs());
    IBD_RETURN_IF_ERROR(RequireFit(height, fits));
    IBD_ASSIGN_OR_RETURN(const auto broken, m_rules.Check(node, block, m_spent));
    if (broken) {
        m_made.broken = {node.height, *broken};
    } else {
        MakeRecord(node);
    }
    return {};
}

/** Makes the record of the current block, whose coins all fit. */
void UndoPhase::Worker::MakeRecord(const HeaderNode& node)
{
    auto& record = RecordOf(static_cast<uint32_t>(node.height));
    record.node = &node;
    if (!m_phase.m_options.records) return;
    if (SpentBytes() > m_phase.m_options.oversized_bytes) {
        record.scattered = ScatterRecord();
    } else {
        record.begin = m_made.bytes.size();
        AppendRecord();
        record.size = m_made.bytes.size() - record.begin;
    }
}

uint64_t UndoPhase::Worker::SpentBytes() const
{
    return std::accumulate(m_spent.begin(), m_spent.end(), uint64_t{0},
                           [](uint64_t size, ByteSpan coin) { return size + coin.size(); });
}

/** Finds the coin of each input of a block, by JoinWorker's numbers, and the outline if there is
 *  one. False: an input has no coin, or two. */
bool UndoPhase::Worker::FindCoins(uint32_t height)
{
    const auto offsets = m_coins.At(height);
    m_by_input.assign(offsets.size() + 1, {});
    bool fits = true;
    for (size_t i = 0; i < offsets.size(); ++i) {
        const uint32_t offset = offsets[i];
        if (i + kRecordsAhead < offsets.size())
            __builtin_prefetch(m_coins.Data() + offsets[i + kRecordsAhead]);
        const uint32_t input = JoinRecord::IndexOf(JoinRecord::PlaceIn(m_coins.Data() + offset));
        fits = fits && input < m_by_input.size() && m_by_input[input].empty();
        if (fits) m_by_input[input] = UndoOf(m_coins.RecordAt(offset));
    }
    // The places are distinct, so with a matching count no input lacks its coin.
    const size_t outlines = m_by_input[kOutlineIndex].empty() ? 0 : 1;
    m_spent = std::span(m_by_input).subspan(1, offsets.size() - outlines);
    return fits && (outlines == 0 || m_by_input.back().empty());
}

/** Fails if an input of the current block lacks its coin. */
Result<> UndoPhase::Worker::RequireFit(uint32_t height, bool fits) const
{
    const uint64_t inputs = m_outline.Inputs();
    if (fits && inputs == m_spent.size()) return {};
    return BadData("block at height {}: {} spilled coins do not fit its {} inputs", height,
                   m_spent.size(), inputs);
}

/** See BlockUndo::Encode(). */
void UndoPhase::Worker::AppendRecord()
{
    Writer writer(m_made.bytes);
    writer.CompactSize(m_outline.Txs().size());
    auto coin = m_spent.begin();
    for (const BlockOutline::Tx& tx : m_outline.Txs()) {
        writer.CompactSize(tx.inputs);
        for (uint32_t i = 0; i < tx.inputs; ++i) Append(m_made.bytes, *coin++);
    }
}

/** Like AppendRecord(), but makes views of the coins instead of copying them. */
std::unique_ptr<ScatteredUndo> UndoPhase::Worker::ScatterRecord() const
{
    constexpr size_t kMostOfCount = 9;
    auto out = std::make_unique<ScatteredUndo>();
    const auto txs = m_outline.Txs();
    out->counts.reserve(kMostOfCount * (1 + txs.size())); // it must not reallocate
    out->pieces.reserve(1 + txs.size() + m_spent.size());
    const auto add_count = [&](size_t count) {
        const size_t begin = out->counts.size();
        Writer(out->counts).CompactSize(count);
        out->pieces.push_back(ByteSpan(out->counts).subspan(begin));
    };
    add_count(txs.size());
    auto coin = m_spent.begin();
    for (const BlockOutline::Tx& tx : txs) {
        add_count(tx.inputs);
        out->pieces.insert(out->pieces.end(), coin, coin + tx.inputs);
        coin += tx.inputs;
    }
    return out;
}

/** Checksums all records of the span at once, in all available lanes; scattered ones singly. */
void UndoPhase::Worker::AddChecksums()
{
    m_messages.clear();
    for (UndoSpan::Record& record : m_made.records) {
        if (!record.node) continue; // above a block that breaks a rule
        const BlockHash& before = record.node->prev->hash;
        if (record.scattered) {
            record.checksum = UndoChecksum(before, record.scattered->pieces);
        } else {
            const ByteSpan whole = ByteSpan(m_made.bytes).subspan(record.begin, record.size);
            m_messages.push_back({before.Span(), whole, {}});
        }
    }
    m_checksums.resize(m_messages.size());
    Sha256dMany(m_messages, m_checksums.data());
    auto next = m_checksums.begin();
    for (UndoSpan::Record& record : m_made.records) {
        if (record.node && !record.scattered) record.checksum = *next++;
    }
}

UndoPhase::UndoPhase(JoinJob& job, const UndoOptions& options, const BlockStore& store,
                     const BlockPlaces& places, const JoinState& state, UndoConsumer& consumer)
    : m_job(job), m_options(options), m_store(store), m_places(places), m_state(state),
      m_spending(state.SpendingRanges()),
      m_handover(consumer, job.undo_blocks, MostWaitingBytes(job.options))
{
}

Found<BrokenRule> UndoPhase::Run(RangeSpan ranges, std::span<const SpillInfo> coins,
                                 JoinMeter& meter)
{
    IBD_ASSIGN_OR_RETURN(const auto spills,
                         SpillReader::Open(m_job.env, m_job.options.directory, coins,
                                           m_state.OwnerOf(m_spending.Count())));
    m_next = ranges.first;
    m_handover.Begin(m_spending.Span(ranges.first).first);
    IBD_RETURN_IF_ERROR(RunJoinThreads(m_job, meter, [&] { return Work(spills, ranges.end); }));
    return m_handover.Broken();
}

Result<> UndoPhase::Work(const SpillReader& coins, uint32_t end)
{
    Worker worker(*this, coins);
    while (true) {
        const uint32_t range = m_next.fetch_add(1, std::memory_order_relaxed);
        if (range >= end) return {};
        const Result<bool> go_on = worker.WriteRange(range);
        if (go_on && *go_on) continue;
        m_handover.End();
        return go_on ? Result<>() : go_on.GetError();
    }
}

} // namespace ibd
