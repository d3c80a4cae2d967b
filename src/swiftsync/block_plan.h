// BlockPlan: which stored blocks are to be handed out, where they lie, and in what order: as in the
// files, in stretches of a few MiB, or by height as far as a window of the files allows. Immutable
// but for its claim counter. Memory: 24 bytes a block, 32 by height, 8 if it is missing.
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

/** The order in which blocks are handed out. */
struct PlanOrder {
    bool by_height = false;
    uint64_t bytes = 0; //!< of block files in a stretch, or in the window, roughly

    /** As they lie there; a worker claims a stretch of one file. For who does not care: disks read
     *  on. */
    static constexpr PlanOrder OfFiles(uint64_t stretch_bytes = 8 << 20)
    {
        return {false, stretch_bytes};
    }
    /** The lowest of a window that moves on through the files; a worker claims one block. For who
     *  wants an output near its spend: peers deliver blocks in any order. */
    static constexpr PlanOrder OfChain(uint64_t window_bytes = 256 << 20)
    {
        return {true, window_bytes};
    }
};

class BlockPlan {
public:
    /** `blocks`: in any order. */
    explicit BlockPlan(std::vector<PlannedBlock> blocks, PlanOrder order = PlanOrder::OfFiles());
    /** Plans the blocks 1 to `terminal` that the index says are stored, without those `folded`. The
     *  others are Missing(), for whoever can get them. */
    BlockPlan(const HeaderNode& terminal, const std::function<bool(int32_t height)>& folded,
              PlanOrder order = PlanOrder::OfFiles());

    struct Claimed {
        std::span<const PlannedBlock> blocks; //!< a stretch or a block; empty: nothing is left
        /** By height, where the system cannot know what is read next: what it should read
         *  meanwhile, as it lies there; what comes into the window. */
        std::span<const PlannedBlock> ahead;
    };
    /** What nobody has claimed and is next. Any thread. */
    Claimed Claim();
    /** Nobody gets anything more. */
    void Stop() { m_next.store(m_blocks.size() + 1, std::memory_order_relaxed); }
    /** Of a block of this plan; an estimate if it is the last of its file. */
    uint64_t BytesOf(const PlannedBlock& block) const { return BytesAt(&block - m_blocks.data()); }

    size_t Blocks() const { return m_blocks.size(); }
    /** Blocks that were to be planned and are not stored, lowest first. */
    std::span<const HeaderNode* const> Missing() const { return m_missing; }
    /** Bytes of all planned blocks, estimated from their positions. */
    uint64_t EstimatedBytes() const { return m_bytes; }
    /** Of these, of the blocks to be folded. */
    uint64_t BytesToFold() const;

private:
    void Arrange(PlanOrder order);
    uint64_t BytesUpTo(size_t next) const;
    uint64_t BytesAt(size_t index) const;
    void Estimate();
    void CutStretches(uint64_t stretch_bytes);
    void OrderByHeight(uint64_t window_bytes);

    std::vector<PlannedBlock> m_blocks; //!< by file and offset
    // Indices of these. In files' order of each stretch's first block, and the end:
    std::vector<uint32_t> m_starts;
    // By height of each claim's block, and of the first one that was not in the window then:
    std::vector<uint32_t> m_by_height;
    std::vector<uint32_t> m_window_ends;
    std::atomic<size_t> m_next = 0;
    uint64_t m_bytes = 0;
    std::vector<const HeaderNode*> m_missing;
};

} // namespace ibd
