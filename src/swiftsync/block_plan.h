// BlockPlan: which stored blocks are to be handed out, where they lie, and in what order: as in the
// files, in stretches of a few MiB, or by height as far as a window of the files allows. Immutable
// but for its claim counter. Memory: 24 bytes a block, 28 by height, 8 if it is missing.
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
    uint64_t bytes = 0; //!< of block files in a stretch or a window, roughly

    /** As they lie there; a worker claims a stretch of one file. For who does not care: disks read
     *  on. */
    static constexpr PlanOrder OfFiles(uint64_t stretch_bytes = 8 << 20)
    {
        return {false, stretch_bytes};
    }
    /** By height within a window of the files; a worker claims one block. For who wants an output
     *  near its spend: peers deliver blocks in any order, as far apart as a download window. */
    static constexpr PlanOrder OfChain(uint64_t window_bytes = 128 << 20)
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

    /** What nobody has claimed and is next, a stretch or a block; empty when there is nothing. Any
     *  thread. */
    std::span<const PlannedBlock> Claim();
    /** Nobody gets anything more. */
    void Stop() { m_next.store(m_blocks.size() + 1, std::memory_order_relaxed); }

    struct Ahead {
        const PlannedBlock* block = nullptr; //!< null: none
        uint64_t bytes = 0;                  //!< roughly
    };
    /** By height, where the system cannot know what is read next: what it should read while
     *  `claimed` is worked on, a block of the next window, one after the other as they lie. */
    Ahead AheadOf(std::span<const PlannedBlock> claimed) const;

    size_t Blocks() const { return m_blocks.size(); }
    /** Blocks that were to be planned and are not stored, lowest first. */
    std::span<const HeaderNode* const> Missing() const { return m_missing; }
    /** Bytes of all planned blocks, estimated from their positions. */
    uint64_t EstimatedBytes() const { return m_bytes; }

private:
    void Arrange(PlanOrder order);
    uint64_t BytesUpTo(size_t next) const;
    void Estimate();
    void Cut(PlanOrder order);

    std::vector<PlannedBlock> m_blocks; //!< by file and offset
    std::vector<uint32_t> m_starts;     //!< index of each piece's first block, and the end
    std::vector<uint32_t>
        m_by_height; //!< indices, by height in each window; empty: in files' order
    std::atomic<size_t> m_next = 0;
    uint64_t m_bytes = 0;
    std::vector<const HeaderNode*> m_missing;
};

} // namespace ibd
