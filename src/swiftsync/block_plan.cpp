// See block_plan.h.
#include "swiftsync/block_plan.h"

#include <algorithm>
#include <numeric>

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
    Cut(order);
    if (!order.by_height) return;
    m_by_height.resize(m_blocks.size());
    std::iota(m_by_height.begin(), m_by_height.end(), 0);
    for (size_t piece = 0; piece + 1 < m_starts.size(); ++piece) {
        std::sort(m_by_height.begin() + m_starts[piece], m_by_height.begin() + m_starts[piece + 1],
                  [this](uint32_t a, uint32_t b) {
                      return m_blocks[a].node->height < m_blocks[b].node->height;
                  });
    }
}

/** From one block to the next in the same file; 0: it is in another file. */
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
    uint64_t gaps = 0;  // how many of those there are
    for (size_t i = 1; i < m_blocks.size(); ++i) {
        const uint64_t bytes = BytesUpTo(i);
        known += bytes;
        gaps += bytes > 0;
    }
    m_bytes = gaps ? known / gaps * m_blocks.size() : 0;
}

/** Into stretches, each of one file, or windows. */
void BlockPlan::Cut(PlanOrder order)
{
    uint64_t bytes = 0; // of the piece, without its last block
    for (size_t i = 0; i < m_blocks.size(); ++i) {
        const bool other_file = i > 0 && m_blocks[i].file != m_blocks[i - 1].file;
        if (i > 0) bytes += BytesUpTo(i);
        if (i == 0 || bytes >= order.bytes || (other_file && !order.by_height)) {
            m_starts.push_back(static_cast<uint32_t>(i));
            bytes = 0;
        }
    }
    m_starts.push_back(static_cast<uint32_t>(m_blocks.size()));
}

std::span<const PlannedBlock> BlockPlan::Claim()
{
    // Relaxed: the blocks were written before any worker started.
    const size_t next = m_next.fetch_add(1, std::memory_order_relaxed);
    if (!m_by_height.empty()) {
        if (next >= m_by_height.size()) return {};
        return std::span(m_blocks).subspan(m_by_height[next], 1);
    }
    if (next + 1 >= m_starts.size()) return {};
    return std::span(m_blocks).subspan(m_starts[next], m_starts[next + 1] - m_starts[next]);
}

BlockPlan::Ahead BlockPlan::AheadOf(std::span<const PlannedBlock> claimed) const
{
    if (m_by_height.empty()) return {};
    const auto at = static_cast<uint32_t>(claimed.data() - m_blocks.data());
    const auto end = std::upper_bound(m_starts.begin(), m_starts.end(), at);
    const auto first = m_by_height.begin() + *(end - 1);
    const auto place = std::lower_bound(
        first, m_by_height.begin() + *end, claimed[0].node->height,
        [this](uint32_t index, int32_t height) { return m_blocks[index].node->height < height; });
    const auto ahead = static_cast<size_t>(*end + (place - first));
    if (ahead >= m_blocks.size()) return {};
    const uint64_t known = ahead + 1 < m_blocks.size() ? BytesUpTo(ahead + 1) : 0;
    return {&m_blocks[ahead], known ? known : m_bytes / m_blocks.size()};
}

} // namespace ibd
