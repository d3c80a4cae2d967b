// BlockPlan: which blocks are to be folded and where they lie, cut into stretches of a few MiB of
// one block file; workers claim stretches in file order. BlockStream: one worker's blocks, one by
// one. The plan is shared and changes only by its claim counter; a stream belongs to one worker.
// Memory: 16 bytes a block for the plan, 1 to 5 MiB for a stream.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_store.h"
#include "swiftsync/checkpoint.h"

#include <atomic>

namespace ibd {

struct PlannedBlock {
    const HeaderNode* node = nullptr;
    int32_t file = -1;
    uint32_t offset = 0; //!< of the block's first byte, behind its frame header
};

class BlockPlan {
public:
    /** Block file bytes in a stretch, roughly. */
    static constexpr uint64_t kStretchBytes = 8 << 20;

    /** Plans blocks 1 to `terminal` without those already folded. An error names the height and
     *  hash of a block that is not on disk. */
    static Result<std::unique_ptr<BlockPlan>> Make(const HeaderNode& terminal,
                                                   const HeightSet& folded,
                                                   uint64_t stretch_bytes = kStretchBytes);

    /** The next stretch that nobody has claimed; empty when there is none. Any thread. */
    std::span<const PlannedBlock> Claim();
    /** Nobody gets another stretch. */
    void Stop() { m_next.store(m_starts.size(), std::memory_order_relaxed); }

    size_t Blocks() const { return m_blocks.size(); }
    /** Bytes of all planned blocks, estimated from their positions. */
    uint64_t EstimatedBytes() const { return m_bytes; }

private:
    std::vector<PlannedBlock> m_blocks; //!< by file and offset
    std::vector<uint32_t> m_starts;     //!< index of each stretch's first block, and the end
    std::atomic<size_t> m_next = 0;
    uint64_t m_bytes = 0;
};

struct SuppliedBlock {
    const HeaderNode* node = nullptr;
    ByteSpan bytes; //!< the serialized block; until the next call
};

class BlockStream {
public:
    virtual ~BlockStream() = default;
    /** The next block; false when there are no more. */
    virtual Result<bool> Next(SuppliedBlock& out) = 0;
};

/** Reads the plan's stretches with large reads and removes the obfuscation block by block, just
 *  before it is parsed. */
class FileBlockStream final : public BlockStream {
public:
    static constexpr size_t kReadBytes = 1 << 20;

    FileBlockStream(Env& env, const BlockStore& store, BlockPlan& plan)
        : m_env(env), m_store(store), m_plan(plan), m_buffer(kReadBytes)
    {
    }

    Result<bool> Next(SuppliedBlock& out) override;

private:
    Result<> StartStretch();
    /** `size` bytes of the file at `offset`, as on disk; reads ahead within the stretch. */
    Result<MutableByteSpan> Need(uint64_t offset, size_t size);
    Error Damaged(const PlannedBlock& block, std::string_view what) const;

    Env& m_env;
    const BlockStore& m_store;
    BlockPlan& m_plan;
    std::span<const PlannedBlock> m_stretch; //!< what is left of it
    uint64_t m_stretch_end = 0;              //!< where its last block's frame starts
    int32_t m_file_number = -1;
    std::unique_ptr<ReadableFile> m_file;
    Bytes m_buffer;           //!< grows to the largest block
    uint64_t m_window_at = 0; //!< file offset of the buffer's first byte
    size_t m_window_size = 0;
};

} // namespace ibd
