// See block_plan.h.
#include "swiftsync/block_plan.h"

#include <algorithm>

namespace ibd {

BlockPlan::BlockPlan(std::vector<PlannedBlock> blocks, uint64_t stretch_bytes)
    : m_blocks(std::move(blocks))
{
    CutStretches(stretch_bytes);
}

BlockPlan::BlockPlan(const HeaderNode& terminal, const std::function<bool(int32_t height)>& folded,
                     uint64_t stretch_bytes)
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
    CutStretches(stretch_bytes);
}

void BlockPlan::CutStretches(uint64_t stretch_bytes)
{
    std::sort(m_blocks.begin(), m_blocks.end(), [](const PlannedBlock& a, const PlannedBlock& b) {
        return a.file != b.file ? a.file < b.file : a.offset < b.offset;
    });
    uint64_t known = 0; // bytes of blocks whose end the next block shows
    uint64_t gaps = 0;  // how many of those there are
    for (size_t i = 0; i < m_blocks.size(); ++i) {
        const PlannedBlock& block = m_blocks[i];
        const PlannedBlock& start = m_blocks[m_starts.empty() ? 0 : m_starts.back()];
        if (i == 0 || block.file != start.file || block.offset - start.offset >= stretch_bytes) {
            m_starts.push_back(static_cast<uint32_t>(i));
        }
        if (i > 0 && block.file == m_blocks[i - 1].file) {
            known += std::min(block.offset - m_blocks[i - 1].offset, kMaxStoredBlockSize);
            ++gaps;
        }
    }
    m_bytes = gaps ? known / gaps * m_blocks.size() : 0;
    m_starts.push_back(static_cast<uint32_t>(m_blocks.size()));
}

std::span<const PlannedBlock> BlockPlan::Claim()
{
    // Relaxed: the blocks were written before any worker started.
    const size_t stretch = m_next.fetch_add(1, std::memory_order_relaxed);
    if (stretch + 1 >= m_starts.size()) return {};
    const size_t begin = m_starts[stretch];
    return std::span(m_blocks).subspan(begin, m_starts[stretch + 1] - begin);
}

} // namespace ibd
