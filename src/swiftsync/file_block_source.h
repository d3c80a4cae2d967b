// FileBlockSource: the stored blocks of a plan in its order; of a stretch with large reads. A block
// that is not as its header names it is read once more, as the fault may have been on the way from
// the disk; if that does not help, it is damaged: an error, no verdict. FileBlockSupply: the blocks
// up to the terminal block, which the index says where to find; all of them must be there. Memory:
// 1 to 5 MiB for each source.
#pragma once

#include "chain/block_source.h"
#include "swiftsync/block_plan.h"

namespace ibd {

/** Removes the obfuscation block by block, just before it is parsed. */
class FileBlockSource final : public BlockSource {
public:
    static constexpr size_t kReadBytes = 1 << 20;

    FileBlockSource(Env& env, const BlockStore& store, BlockPlan& plan)
        : FileBlockSource(env, store, plan, Bytes(kReadBytes))
    {
    }
    /** With a buffer that another one gave back, or none: it grows as it must. */
    FileBlockSource(Env& env, const BlockStore& store, BlockPlan& plan, Bytes buffer)
        : m_env(env), m_store(store), m_plan(plan), m_buffer(std::move(buffer))
    {
    }
    /** The source is then of no more use. */
    Bytes TakeBuffer() { return std::move(m_buffer); }

    Result<bool> Next(SuppliedBlock& out) override;
    Result<> Keep(const SuppliedBlock&, const BlockView&) override { return {}; }
    Result<bool> Reject(const SuppliedBlock& block, const RuleViolation& why) override;
    Result<> Sync() override { return {}; }

private:
    Result<> StartStretch(std::span<const PlannedBlock> ahead);
    struct OpenFile {
        int32_t number = -1;
        std::unique_ptr<ReadableFile> file;
    };
    Result<> Open(OpenFile& file, const PlannedBlock& block) const;
    Result<> ReadAhead(std::span<const PlannedBlock> ahead);
    Result<ByteSpan> ReadPlanned();
    Result<ByteSpan> ReadAgain();
    /** `size` bytes of the file at `offset`, as on disk; reads ahead within the stretch. */
    Result<MutableByteSpan> Need(uint64_t offset, size_t size);
    Error Damaged(const PlannedBlock& block, std::string_view what) const;

    Env& m_env;
    const BlockStore& m_store;
    BlockPlan& m_plan;
    std::span<const PlannedBlock> m_stretch; //!< what is left of it
    PlannedBlock m_block;                    //!< handed out last
    bool m_again = false;                    //!< it is to be handed out once more
    bool m_is_second = false;                //!< it was read a second time
    uint64_t m_stretch_end = 0;              //!< where its last block's frame starts
    OpenFile m_file;                         //!< of the stretch
    OpenFile m_ahead;                        //!< what is read ahead lies there
    Bytes m_second;           //!< what the second reading gave
    Bytes m_buffer;           //!< grows to the largest block
    uint64_t m_window_at = 0; //!< file offset of the buffer's first byte
    size_t m_window_size = 0;
};

class FileBlockSupply final : public BlockSupply {
public:
    /** All must outlive the supply. */
    FileBlockSupply(Env& env, const BlockStore& store, const HeaderNode& terminal,
                    PlanOrder order = PlanOrder::OfFiles())
        : m_env(env), m_store(store), m_terminal(terminal), m_order(order)
    {
    }

    Result<> Begin(const std::function<bool(int32_t height)>& folded) override;
    std::unique_ptr<BlockSource> MakeSource() override;
    void Stop() override { m_plan->Stop(); }
    size_t BlocksToFold() const override { return m_plan->Blocks(); }
    uint64_t EstimatedBytes() const override { return m_plan->EstimatedBytes(); }

private:
    Env& m_env;
    const BlockStore& m_store;
    const HeaderNode& m_terminal;
    const PlanOrder m_order;
    std::optional<BlockPlan> m_plan;
};

} // namespace ibd
