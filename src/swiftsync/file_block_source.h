// FileBlockSource: the stored blocks of a plan in its order, each stretch with large reads. A block
// that does not match its header is read a second time, because the first transfer from the disk
// may have failed. If it still does not match, it is damaged, which is an error and not a verdict.
// FileBlockSupply: the blocks up to the terminal block; all must be stored at their positions in
// the index. Memory: 1 to 5 MiB for each source.
#pragma once

#include "chain/block_source.h"
#include "swiftsync/block_plan.h"

#include <deque>

namespace ibd {

/** Removes the obfuscation of each block just before it is parsed. */
class FileBlockSource final : public BlockSource {
public:
    static constexpr size_t kReadBytes = 1 << 20;
    static constexpr size_t kOpenFiles = 4; //!< memory for the window of a plan in height order
    /** Claims of cold blocks that are read ahead. */
    static constexpr size_t kMaxClaims = 8;
    /** In height order, smaller blocks are read through the page cache: there the kernel reads
     *  neighbouring blocks together. */
    static constexpr uint64_t kLeastUncached = 128 << 10;

    FileBlockSource(Env& env, const BlockStore& store, BlockPlan& plan)
        : FileBlockSource(env, store, plan, Bytes(kReadBytes))
    {
    }
    /** `buffer`: from TakeBuffer(), or empty; it grows as necessary. */
    FileBlockSource(Env& env, const BlockStore& store, BlockPlan& plan, Bytes buffer)
        : m_env(env), m_store(store), m_plan(plan), m_reader(plan.Uncached()),
          m_buffer(std::move(buffer))
    {
    }
    /** Returns the buffer; the source must not be used afterwards. */
    Bytes TakeBuffer() { return std::move(m_buffer); }

    Result<bool> Next(SuppliedBlock& out) override;
    Result<> Keep(const SuppliedBlock&, const BlockView&) override { return {}; }
    Result<bool> Reject(const SuppliedBlock& block, const RuleViolation& why) override;
    Result<> Sync() override { return {}; }

private:
    /** The blocks that the source has claimed but not begun to hand out. */
    struct Claim {
        std::span<const PlannedBlock> blocks;
        bool announced = false;
    };
    struct OpenFile {
        int32_t number = -1;
        std::shared_ptr<AheadFile> file;
    };
    Result<bool> StartStretch();
    Result<std::shared_ptr<AheadFile>> Open(const PlannedBlock& block);
    Result<> ClaimMore();
    Result<> ClaimAhead();
    void Announce(Claim& claim, const std::shared_ptr<AheadFile>& file);
    bool IsReadUncached(const PlannedBlock& block, const AheadFile& file) const;
    uint64_t EndOf(const PlannedBlock& block) const;
    Result<> ReadAhead(std::span<const PlannedBlock> ahead);
    Result<ByteSpan> ReadPlanned();
    Result<ByteSpan> ReadAgain();
    /** Returns `size` bytes of the file at `offset`, as on disk; reads ahead within the stretch. */
    Result<MutableByteSpan> Need(uint64_t offset, size_t size);
    Error Damaged(const PlannedBlock& block, std::string_view what) const;

    Env& m_env;
    const BlockStore& m_store;
    BlockPlan& m_plan;
    std::span<const PlannedBlock> m_stretch; //!< the remaining part
    PlannedBlock m_block;                    //!< handed out last
    bool m_again = false;                    //!< m_block must be handed out again
    bool m_is_second = false;                //!< m_block was read a second time
    uint64_t m_stretch_end = 0;              //!< start of its last block's frame
    std::deque<Claim> m_claims;              //!< the next stretches
    std::shared_ptr<AheadFile> m_file;       //!< of the stretch
    std::array<OpenFile, kOpenFiles> m_open; //!< the latest ones first
    AheadReader m_reader;
    UnzeroedBytes m_second;   //!< result of the second read
    Bytes m_buffer;           //!< grows to the largest block
    uint64_t m_window_at = 0; //!< file offset of m_buffer
    size_t m_window_size = 0;
};

class FileBlockSupply final : public BlockSupply {
public:
    /** All arguments must outlive the supply. `log` gets the reason if direct I/O is not possible.
     */
    FileBlockSupply(Env& env, const BlockStore& store, const HeaderNode& terminal,
                    PlanOrder order = PlanOrder::OfFiles(), Logger* log = nullptr)
        : m_env(env), m_store(store), m_terminal(terminal), m_order(order), m_log(log)
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
    Logger* const m_log;
    std::optional<BlockPlan> m_plan;
};

} // namespace ibd
