// BlockPlan: the stored blocks to read, their file positions, and their order: either file order,
// in stretches of a few MiB, or height order within a window of the files. Immutable but for claims
// and UncachedUse. Memory: 24 bytes a block (32 by height), and 8 for each missing one.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_store.h"
#include "util/ahead_reader.h"

#include <atomic>

namespace ibd {

struct PlannedBlock {
    const HeaderNode* node = nullptr;
    int32_t file = -1;
    uint32_t offset = 0; //!< of the block's first byte, after its frame header
    // See SuppliedBlock.
    uint32_t tag = 0;
    bool fold = true;
    bool indexed = true;
};

/** The order in which blocks are handed out. */
struct PlanOrder {
    bool by_height = false;
    uint64_t bytes = 0; //!< bytes of block files in a stretch or in the window, approximately

    /** In the order of the files; a worker claims a stretch of one file. For users that accept any
     *  order: the disk reads sequentially. */
    static constexpr PlanOrder OfFiles(uint64_t stretch_bytes = 8 << 20)
    {
        return {false, stretch_bytes};
    }
    /** Always the lowest block in a window that moves through the files; a worker claims one block.
     *  For users that want an output soon before its spend; the files have blocks in the order of
     *  their arrival from peers. */
    static constexpr PlanOrder OfChain(uint64_t window_bytes = 256 << 20)
    {
        return {true, window_bytes};
    }
};

class BlockPlan {
public:
    /** `blocks`: in any order. */
    explicit BlockPlan(std::vector<PlannedBlock> blocks, PlanOrder order = PlanOrder::OfFiles());
    /** Plans the blocks 1 to `terminal` that are stored according to the index, without the
     *  `folded` ones. Blocks that are not stored are Missing(). */
    BlockPlan(const HeaderNode& terminal, const std::function<bool(int32_t height)>& folded,
              PlanOrder order = PlanOrder::OfFiles());

    struct Claimed {
        std::span<const PlannedBlock> blocks; //!< a stretch or a block; empty: none are left
        /** In height order only, where the kernel cannot predict reads: adjacent blocks that enter
         *  the window and should be read ahead. */
        std::span<const PlannedBlock> ahead;
    };
    /** Claims the next blocks. Any thread. */
    Claimed Claim();
    /** No more blocks can be claimed. */
    void Stop()
    {
        m_stopped.store(true, std::memory_order_relaxed);
        m_next.store(m_blocks.size() + 1, std::memory_order_relaxed);
    }
    /** Nor are claimed blocks handed out whose reading has not begun. */
    bool Stopped() const { return m_stopped.load(std::memory_order_relaxed); }
    /** Whether its blocks can be read with direct I/O. */
    UncachedUse& Uncached() { return m_uncached; }
    /** Size of a block of this plan; an estimate if it is the last of its file. */
    uint64_t BytesOf(const PlannedBlock& block) const { return BytesAt(&block - m_blocks.data()); }

    size_t Blocks() const { return m_blocks.size(); }
    /** Planned blocks that are not stored, lowest first. */
    std::span<const HeaderNode* const> Missing() const { return m_missing; }
    /** Bytes of all planned blocks, estimated from their positions. */
    uint64_t EstimatedBytes() const { return m_bytes; }
    /** The part of it that is to be folded. */
    uint64_t BytesToFold() const;

private:
    void Arrange(PlanOrder order);
    uint64_t BytesUpTo(size_t next) const;
    uint64_t BytesAt(size_t index) const;
    void Estimate();
    void CutStretches(uint64_t stretch_bytes);
    void OrderByHeight(uint64_t window_bytes);

    std::vector<PlannedBlock> m_blocks; //!< by file and offset
    // Indices into m_blocks. In the order of the files: the first block of each stretch, and the
    // end.
    std::vector<uint32_t> m_starts;
    // In height order: the block of each claim, and the first block that was not in the window at
    // that claim.
    std::vector<uint32_t> m_by_height;
    std::vector<uint32_t> m_window_ends;
    std::atomic<size_t> m_next = 0;
    std::atomic<bool> m_stopped = false;
    UncachedUse m_uncached;
    uint64_t m_bytes = 0;
    std::vector<const HeaderNode*> m_missing;
};

} // namespace ibd
