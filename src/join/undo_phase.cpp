// See undo_phase.h.
#include "join/undo_phase.h"

#include "crypto/sha256_batch.h"
#include "join/coin_record.h"
#include "join/join_threads.h"
#include "join/spent_rules.h"

#include <numeric>

namespace ibd {

namespace {

/** Coins ahead that are asked to be brought near: they lie in the order of their making. */
constexpr size_t kAhead = 12;

/** Of a thread's memory for coins. Their offsets and the records made of them take as much, and
 *  records that wait for their turn what is left. */
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
          m_blocks(m_job.env, phase.m_store, m_job.terminal, phase.m_places,
                   phase.m_state.checksums),
          m_rules(m_job.params, phase.m_store, phase.m_options.checks)
    {
    }

    /** False: the work is ended. */
    Result<bool> WriteRange(uint32_t range);

private:
    Result<bool> WriteSpan(uint32_t range, const SizedSpan& cut);
    Result<> Build(uint32_t range, uint64_t bytes);
    Result<> BuildBlock(const HeaderNode& node, const PlainBlock& block);
    Result<> FindCoins(const HeaderNode& node, const PlainBlock& block);
    void AppendRecord(const PlainBlock& block);
    std::unique_ptr<ScatteredUndo> ScatterRecord(const PlainBlock& block) const;
    uint64_t SpentBytes() const;
    void AddChecksums();

    UndoPhase& m_phase;
    JoinJob& m_job;
    const SpillReader& m_spills;
    SpanRecords m_coins;
    SpanBlocks m_blocks;
    SpentRules m_rules;
    // Of the span at hand.
    HeightSpan m_span; //!< those of it whose records are wanted
    UndoSpan m_made;
    std::vector<HashMessage> m_messages; //!< that give the checksums
    std::vector<Hash32> m_checksums;
    // Of the block at hand.
    std::vector<ByteSpan> m_spent; //!< in undo form, by number of the input without the coinbase's
};

Result<bool> UndoPhase::Worker::WriteRange(uint32_t range)
{
    const HeightSpan whole = m_phase.m_spending.Span(range);
    const size_t most = MostCoinBytes(m_job.options);
    IBD_ASSIGN_OR_RETURN(const auto spans, CutRange(m_spills, range, whole, CoinRecordSize, most));
    for (const SizedSpan& span : spans) {
        const bool too_large = span.bytes > most;
        if (too_large && !m_phase.m_handover.AwaitTurn(span.heights.first)) {
            return false; // one at a time
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
    AddChecksums();
    return m_phase.m_handover.Give(std::move(m_made));
}

Result<> UndoPhase::Worker::Build(uint32_t range, uint64_t bytes)
{
    IBD_RETURN_IF_ERROR(m_coins.Load(m_spills, range, m_span, bytes));
    m_made.records.clear();
    m_made.records.resize(m_span.Blocks());
    const bool giant = m_span.Blocks() == 1 && m_coins.Bytes() > m_phase.m_options.giant_bytes;
    // A count of a transaction's coins takes less than what stands before them in the spill.
    if (!giant) m_made.bytes.reserve(m_coins.Bytes() + kCoinHeadBytes * m_span.Blocks());
    return m_blocks.ForEach(m_span, [&](const HeaderNode& node, const PlainBlock& block) {
        return m_job.stop ? Result<>() : BuildBlock(node, block);
    });
}

Result<> UndoPhase::Worker::BuildBlock(const HeaderNode& node, const PlainBlock& block)
{
    if (m_made.broken && m_made.broken->height < node.height) return {};
    IBD_RETURN_IF_ERROR(FindCoins(node, block));
    IBD_ASSIGN_OR_RETURN(const auto broken, m_rules.Check(node, block, m_spent));
    if (broken) {
        m_made.broken = {node.height, *broken};
        return {};
    }
    auto& record = m_made.records[static_cast<uint32_t>(node.height) - m_span.first];
    record.node = &node;
    if (SpentBytes() > m_phase.m_options.giant_bytes) {
        record.scattered = ScatterRecord(block);
    } else {
        record.begin = m_made.bytes.size();
        AppendRecord(block);
        record.size = m_made.bytes.size() - record.begin;
    }
    return {};
}

uint64_t UndoPhase::Worker::SpentBytes() const
{
    return std::accumulate(m_spent.begin(), m_spent.end(), uint64_t{0},
                           [](uint64_t size, ByteSpan coin) { return size + coin.size(); });
}

/** The coin of each input, by their numbers, which JoinWorker gave them. */
Result<> UndoPhase::Worker::FindCoins(const HeaderNode& node, const PlainBlock& block)
{
    const size_t before = block.Txs()[0].inputs.size();
    m_spent.assign(block.Inputs() - before, {});
    const auto offsets = m_coins.At(static_cast<uint32_t>(node.height));
    bool fits = offsets.size() == m_spent.size();
    for (size_t i = 0; i < offsets.size(); ++i) {
        const uint32_t offset = offsets[i];
        if (i + kAhead < offsets.size()) __builtin_prefetch(m_coins.Data() + offsets[i + kAhead]);
        const uint32_t input = JoinRecord::IndexOf(JoinRecord::PlaceIn(m_coins.Data() + offset));
        fits = fits && input >= before && input - before < m_spent.size() &&
               m_spent[input - before].empty();
        if (fits) m_spent[input - before] = UndoOf(m_coins.RecordAt(offset));
    }
    if (fits) return {};
    return BadData("block at height {}: {} spilled coins do not fit its {} inputs", node.height,
                   offsets.size(), m_spent.size());
}

/** As BlockUndo::Encode(). */
void UndoPhase::Worker::AppendRecord(const PlainBlock& block)
{
    const auto txs = block.Txs().subspan(1);
    Writer writer(m_made.bytes);
    writer.CompactSize(txs.size());
    auto coin = m_spent.begin();
    for (const TxView& tx : txs) {
        writer.CompactSize(tx.inputs.size());
        for (size_t i = 0; i < tx.inputs.size(); ++i) Append(m_made.bytes, *coin++);
    }
}

/** As AppendRecord(), but the coins stay where they lie. */
std::unique_ptr<ScatteredUndo> UndoPhase::Worker::ScatterRecord(const PlainBlock& block) const
{
    constexpr size_t kMostOfCount = 9;
    const auto txs = block.Txs().subspan(1);
    auto out = std::make_unique<ScatteredUndo>();
    out->counts.reserve(kMostOfCount * (1 + txs.size())); // it must not move
    out->pieces.reserve(1 + txs.size() + m_spent.size());
    const auto add_count = [&](size_t count) {
        const size_t begin = out->counts.size();
        Writer(out->counts).CompactSize(count);
        out->pieces.push_back(ByteSpan(out->counts).subspan(begin));
    };
    add_count(txs.size());
    auto coin = m_spent.begin();
    for (const TxView& tx : txs) {
        add_count(tx.inputs.size());
        out->pieces.insert(out->pieces.end(), coin, coin + static_cast<int64_t>(tx.inputs.size()));
        coin += static_cast<int64_t>(tx.inputs.size());
    }
    return out;
}

/** Of all records of the span at once, in as many lanes as there are; of the scattered ones alone.
 */
void UndoPhase::Worker::AddChecksums()
{
    m_messages.clear();
    for (UndoSpan::Record& record : m_made.records) {
        if (!record.node) continue; // a rule is broken below it
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

Result<std::optional<BrokenRule>> UndoPhase::Run(RangeSpan ranges, std::span<const SpillInfo> coins,
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
