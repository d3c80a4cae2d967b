// BlockPlan: which stored blocks are to be handed out and where they lie, cut into stretches of a
// few MiB of one block file; workers claim stretches in file order. Immutable but for its claim
// counter. Memory: 24 bytes a block, 8 if it is missing.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_store.h"

#include <atomic>

namespace ibd {

struct PlannedBlock {
    const HeaderNode* node = nullptr;
    int32_t file = -1;
    uint32_t offset = 0; //!< of the block's first byte, behind its frame header
    // As in SuppliedBlock.
    uint32_t tag = 0;
    bool fold = true;
    bool indexed = true;
};

class BlockPlan {
public:
    /** Block file bytes in a stretch, roughly. */
    static constexpr uint64_t kStretchBytes = 8 << 20;

    /** In any order. */
    explicit BlockPlan(std::vector<PlannedBlock> blocks, uint64_t stretch_bytes = kStretchBytes);
    /** Plans the blocks 1 to `terminal` that the index says are stored, without those `folded`. The
     *  others are Missing(), for whoever can get them. */
    BlockPlan(const HeaderNode& terminal, const std::function<bool(int32_t height)>& folded,
              uint64_t stretch_bytes = kStretchBytes);

    /** The next stretch that nobody has claimed; empty when there is none. Any thread. */
    std::span<const PlannedBlock> Claim();
    /** Nobody gets another stretch. */
    void Stop() { m_next.store(m_starts.size(), std::memory_order_relaxed); }

    size_t Blocks() const { return m_blocks.size(); }
    /** Blocks that were to be planned and are not stored, lowest first. */
    std::span<const HeaderNode* const> Missing() const { return m_missing; }
    /** Bytes of all planned blocks, estimated from their positions. */
    uint64_t EstimatedBytes() const { return m_bytes; }

private:
    void CutStretches(uint64_t stretch_bytes);

    std::vector<PlannedBlock> m_blocks; //!< by file and offset
    std::vector<uint32_t> m_starts;     //!< index of each stretch's first block, and the end
    std::atomic<size_t> m_next = 0;
    uint64_t m_bytes = 0;
    std::vector<const HeaderNode*> m_missing;
};

} // namespace ibd
