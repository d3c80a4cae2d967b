// The writer. Blocks wait in a window; groups end where the window's total cost is least. See
// swifthints.h.
#include "hints/integer_log2.h"
#include "hints/swifthints.h"

namespace ibd {

namespace {

constexpr uint64_t kByte = 8 * kLog2Unit; //!< of cost

// Smaller pieces, or a larger window, would save less than 0.1 % of a mainnet file.
constexpr uint64_t kPieceCost = 512 * kByte;
constexpr uint32_t kPieceBlocks = 128;
constexpr uint32_t kPieceOutputs = 1 << 20;
constexpr uint64_t kWindowCost = (192 << 10) * kByte; //!< three of the largest groups
/** Each takes a byte while it waits for its group, even all-spent outputs, which cost nothing. */
constexpr uint64_t kWindowOutputs = 16 << 20;

/** Codes a group's outputs from the last to the first; holds the bytes and the first state. */
class Coder {
public:
    explicit Coder(const std::array<uint8_t, kSwifthintsContexts>& probabilities)
        : m_probabilities(probabilities)
    {
    }

    void Put(uint8_t symbol)
    {
        const uint32_t t = m_probabilities[symbol / 2];
        if (t == 0) return;
        const bool unspent = symbol % 2;
        const uint32_t share = unspent ? t : kSwifthintsScale - t;
        const uint32_t start = unspent ? kSwifthintsScale - t : 0;
        for (; m_state >= share * kSwifthintsState; m_state >>= 8) PutByte();
        m_state = m_state / share * kSwifthintsScale + start + m_state % share;
    }
    /** The bytes in reading order. */
    Bytes Finish()
    {
        Bytes state;
        for (size_t i = 0; i < SwifthintsHead::kStateSize; ++i) {
            state.push_back(static_cast<uint8_t>(m_state >> 8 * i));
        }
        m_bytes.insert(m_bytes.end(), state.rbegin(), state.rend());
        std::reverse(m_bytes.begin(), m_bytes.end());
        return std::move(m_bytes);
    }

private:
    void PutByte() { m_bytes.push_back(static_cast<uint8_t>(m_state)); }

    const std::array<uint8_t, kSwifthintsContexts>& m_probabilities;
    uint32_t m_state = kSwifthintsState;
    Bytes m_bytes; //!< in reverse order
};

uint64_t CostOf(const SwifthintsPiece& piece)
{
    const auto plan = SwifthintsPlan::For(piece.counts, piece.blocks);
    CHECK(plan); // an output costs at most a bit, so a block always fits
    return plan->cost;
}

} // namespace

bool SwifthintsWriter::FitsLast(const Piece& block) const
{
    if (m_window.empty()) return false;
    const Piece& last = m_window.back();
    if (last.sum.blocks == kPieceBlocks) return false;
    if (last.symbols.size() + block.symbols.size() > kPieceOutputs) return false;
    SwifthintsPiece both = last.sum;
    both.counts.Add(block.sum.counts);
    const auto plan = SwifthintsPlan::For(both.counts, both.blocks + 1);
    // If two groups are cheaper than one, the statistics of the chain change here.
    return plan && plan->cost <= kPieceCost && plan->cost <= CostOf(last.sum) + CostOf(block.sum);
}

Result<> SwifthintsWriter::Add(uint32_t height, BlockShape shape, std::span<const uint32_t> unspent)
{
    CHECK(height == m_next_height++);
    uint64_t outputs = 0;
    for (const uint32_t of_tx : shape) outputs += of_tx;
    if (outputs > kMaxHintedOutputs) {
        return BadData("block {} has {} outputs, more than hints can hold", height, outputs);
    }
    Piece block;
    block.sum.blocks = 1;
    size_t next = 0;
    ForEachSwifthint(shape, [&](uint32_t context) {
        const bool is_unspent = next < unspent.size() && unspent[next] == block.symbols.size();
        if (is_unspent) ++next;
        auto& counts = block.sum.counts.contexts[context];
        ++counts.outputs;
        counts.unspent += is_unspent;
        block.symbols.push_back(static_cast<uint8_t>(2 * context + is_unspent));
        return is_unspent;
    });
    CHECK(next == unspent.size());
    if (FitsLast(block)) {
        Piece& last = m_window.back();
        last.sum.counts.Add(block.sum.counts);
        ++last.sum.blocks;
        Append(last.symbols, block.symbols);
        return {};
    }
    if (!m_window.empty()) {
        m_window_cost += CostOf(m_window.back().sum);
        m_window_outputs += m_window.back().symbols.size();
    }
    if (m_window_cost >= kWindowCost || m_window_outputs >= kWindowOutputs) {
        IBD_RETURN_IF_ERROR(WriteGroups(false));
    }
    m_window.push_back(std::move(block));
    return {};
}

Result<> SwifthintsWriter::WriteGroups(bool all)
{
    std::vector<SwifthintsPiece> pieces;
    for (const Piece& piece : m_window) pieces.push_back(piece.sum);
    size_t written = 0;
    for (const size_t size : GroupSwifthints(pieces)) {
        if (!all && written > 0 && written + size > pieces.size() / 2) break;
        IBD_RETURN_IF_ERROR(WriteGroup(written, written + size));
        written += size;
    }
    m_window.erase(m_window.begin(), m_window.begin() + static_cast<ptrdiff_t>(written));
    m_window_cost = 0;
    m_window_outputs = 0;
    for (const Piece& piece : m_window) {
        m_window_cost += CostOf(piece.sum);
        m_window_outputs += piece.symbols.size();
    }
    return {};
}

Result<> SwifthintsWriter::WriteGroup(size_t begin, size_t end)
{
    SwifthintsPiece sum;
    for (size_t i = begin; i < end; ++i) {
        sum.counts.Add(m_window[i].sum.counts);
        sum.blocks += m_window[i].sum.blocks;
    }
    const auto plan = SwifthintsPlan::For(sum.counts, sum.blocks);
    CHECK(plan);
    const auto probabilities = plan->Probabilities(sum.counts);
    Coder coder(probabilities);
    for (size_t i = end; i-- > begin;) {
        const Bytes& symbols = m_window[i].symbols;
        std::for_each(symbols.rbegin(), symbols.rend(), [&](uint8_t symbol) { coder.Put(symbol); });
    }
    const Bytes coded = coder.Finish();
    const size_t table = plan->compact ? 1 : probabilities.size();
    SwifthintsHead head{0, sum.blocks, plan->compact};
    head.bytes = static_cast<uint32_t>(SwifthintsHead::kSize + table + coded.size());
    Bytes group;
    head.Put(group);
    Append(group, ByteSpan(probabilities).first(table));
    Append(group, coded);
    return m_out.Add(group);
}

Result<> SwifthintsWriter::Finish()
{
    IBD_RETURN_IF_ERROR(WriteGroups(true));
    IBD_RETURN_IF_ERROR(m_out.Flush());
    return m_out.File().Sync();
}

} // namespace ibd
