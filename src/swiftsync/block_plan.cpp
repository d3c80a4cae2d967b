// See block_plan.h.
#include "swiftsync/block_plan.h"

#include <algorithm>
#include <queue>

namespace ibd {

BlockPlan::BlockPlan(std::vector<PlannedBlock> blocks, PlanOrder order)
    : m_blocks(std::move(blocks))
{
    Arrange(order);
}

BlockPlan::BlockPlan(const HeaderNode& terminal, const std::function<bool(int32_t height)>& folded,
                     PlanOrder order)
{
    for (const HeaderNode* node = &terminal; node->height > 0; node = node->prev) {
        if (folded(node->height)) continue;
        if (node->HasData()) {
            m_blocks.push_back({.node = node, .file = node->file, .offset = node->data_pos});
        } else {
            m_missing.push_back(node);
        }
    }
    std::reverse(m_missing.begin(), m_missing.end());
    Arrange(order);
}

void BlockPlan::Arrange(PlanOrder order)
{
    std::sort(m_blocks.begin(), m_blocks.end(), [](const PlannedBlock& a, const PlannedBlock& b) {
        return a.file != b.file ? a.file < b.file : a.offset < b.offset;
    });
    Estimate();
    order.by_height ? OrderByHeight(order.bytes) : CutStretches(order.bytes);
}

/** Bytes from the previous block to block `next` of the same file; 0: it is in another file. */
uint64_t BlockPlan::BytesUpTo(size_t next) const
{
    const PlannedBlock& from = m_blocks[next - 1];
    const PlannedBlock& to = m_blocks[next];
    if (from.file != to.file) return 0;
    return std::min(to.offset - from.offset, kMaxStoredBlockSize);
}

void BlockPlan::Estimate()
{
    uint64_t known = 0; // bytes of blocks whose end the next block shows
    uint64_t gaps = 0;  // number of such blocks
    for (size_t i = 1; i < m_blocks.size(); ++i) {
        const uint64_t bytes = BytesUpTo(i);
        known += bytes;
        gaps += bytes > 0;
    }
    m_bytes = gaps ? known / gaps * m_blocks.size() : 0;
}

uint64_t BlockPlan::BytesAt(size_t index) const
{
    const uint64_t known = index + 1 < m_blocks.size() ? BytesUpTo(index + 1) : 0;
    if (known) return known;
    return m_bytes ? m_bytes / m_blocks.size() : kMaxStoredBlockSize;
}

uint64_t BlockPlan::BytesToFold() const
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < m_blocks.size(); ++i) {
        if (m_blocks[i].fold) bytes += BytesAt(i);
    }
    return std::min(bytes, m_bytes);
}

/** Cuts the plan into stretches, each within one file. */
void BlockPlan::CutStretches(uint64_t stretch_bytes)
{
    for (size_t i = 0; i < m_blocks.size(); ++i) {
        const PlannedBlock& block = m_blocks[i];
        const PlannedBlock& start = m_blocks[m_starts.empty() ? 0 : m_starts.back()];
        if (i == 0 || block.file != start.file || block.offset - start.offset >= stretch_bytes) {
            m_starts.push_back(static_cast<uint32_t>(i));
        }
    }
    m_starts.push_back(static_cast<uint32_t>(m_blocks.size()));
}

/** Blocks far above the others stay in the window until it is their turn. */
void BlockPlan::OrderByHeight(uint64_t window_bytes)
{
    const auto higher = [this](uint32_t a, uint32_t b) {
        return m_blocks[a].node->height > m_blocks[b].node->height;
    };
    std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(higher)> window(higher);
    uint64_t bytes = 0;
    uint32_t end = 0;
    while (m_by_height.size() < m_blocks.size()) {
        while (end < m_blocks.size() && (window.empty() || bytes < window_bytes)) {
            bytes += BytesAt(end);
            window.push(end++);
        }
        m_by_height.push_back(window.top());
        m_window_ends.push_back(end);
        bytes -= BytesAt(window.top());
        window.pop();
    }
}

BlockPlan::Claimed BlockPlan::Claim()
{
    // Relaxed suffices: the blocks were written before any worker started.
    const size_t next = m_next.fetch_add(1, std::memory_order_relaxed);
    const std::span<const PlannedBlock> all = m_blocks;
    if (next < m_by_height.size()) {
        const uint32_t read = next > 0 ? m_window_ends[next - 1] : 0;
        return {all.subspan(m_by_height[next], 1), all.subspan(read, m_window_ends[next] - read)};
    }
    if (next + 1 < m_starts.size()) {
        return {all.subspan(m_starts[next], m_starts[next + 1] - m_starts[next]), {}};
    }
    return {};
}

} // namespace ibd
