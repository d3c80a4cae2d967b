// FoldSearch: the coins that the last blocks of a chain spend, found while the blocks are folded
// and have been parsed and hashed for that already: whoever makes undo data need not read them once
// more (scan_phase.h). Where the last blocks are not stored before, the search begins when they
// have been folded, and the others that were folded by then are read again in End(). What it finds
// is for this process only; when it cannot find all, or is not sure, it finds nothing and says so
// in one line. Owned by who starts the fold; threads as of FoldObserver. Memory: a CoinSearch's,
// until End(), 4 bytes for each block that was folded before the search, and 8 for each of the
// chain, also in what is found.
#pragma once

#include "join/coin_search.h"
#include "join/span_blocks.h"
#include "swiftsync/fold_observer.h"

#include <functional>

namespace ibd {

/** What a search has found, for UndoRebuild::RunLast(); its spills are in the directory. */
struct FoundCoins {
    uint32_t first = 0; //!< lowest block whose coins they are
    JoinState state;    //!< as of a join whose coins are fetched, of these blocks
};

class FoldSearch final : public FoldObserver {
public:
    /** Bytes of blocks, the last ones not counted: End() reads them on one thread. */
    static constexpr uint64_t kMostDeferred = uint64_t{1} << 30;

    using Done = std::function<void(std::optional<FoundCoins> found)>;
    /** Where a block lies, from any thread; null: it is not stored yet. */
    using PlaceOf = std::function<FilePos(const HeaderNode&)>;

    /** Of the blocks `first` to `terminal`, SoughtCoins::kMostBlocks at most. The fold may go
     *  beyond. Each block is stored when it is folded. `options`: as of the UndoRebuild. `done`: is
     *  called by End() if all was found, and by Begin() with nothing, as what was found before is
     *  gone. `most_deferred`: bytes of blocks that may be folded before the search begins, else
     *  there is none. All must outlive it. */
    FoldSearch(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
               uint32_t first, const BlockStore& store, PlaceOf place, JoinOptions options,
               const std::atomic<bool>& stop, Done done, uint64_t most_deferred = kMostDeferred);
    ~FoldSearch() override;

    bool Begin(size_t workers) override;
    void Folded(size_t worker, const BlockView& block, uint32_t height) override;
    void End() override;

private:
    struct Share;

    enum class Stage : uint8_t { kWaiting, kSearching, kFailed };

    Result<bool> Prepare(size_t workers);
    size_t LastBlocks() const { return static_cast<size_t>(m_job.terminal.height) + 1 - m_first; }
    /** False: one of them is not stored. */
    bool PlanLast(std::vector<PlannedBlock>& last) const;
    Result<> Collect(const std::vector<PlannedBlock>& last);
    Result<> ForEachLast(const std::vector<PlannedBlock>& last,
                         const SpanBlocks::Visit& visit) const;
    bool Defer(const BlockView& block, uint32_t height);
    Result<> CollectShown() IBD_REQUIRES(m_mutex);
    Result<> SearchDeferred();
    Result<std::optional<JoinState>> Conclude();
    void Drop();

    JoinJob m_job;
    const uint32_t m_first;
    const BlockStore& m_store;
    const PlaceOf m_place;
    const Done m_done;
    const uint64_t m_most_deferred;
    // From Begin() to End().
    std::unique_ptr<FileLock> m_lock;
    std::vector<SpillInfo> m_kept; //!< of a join, which are none of its business
    std::optional<CoinSearch> m_search;
    std::vector<std::unique_ptr<Share>> m_shares; //!< by worker
    std::atomic<Stage> m_stage = Stage::kWaiting;
    Mutex m_mutex;
    /** Folded before the search began, heights. */
    std::vector<uint32_t> m_deferred IBD_GUARDED_BY(m_mutex);
    uint64_t m_deferred_bytes IBD_GUARDED_BY(m_mutex) = 0; //!< of those that are not the last
    std::vector<uint32_t> m_shown IBD_GUARDED_BY(m_mutex); //!< checksums of last blocks folded
    size_t m_to_come IBD_GUARDED_BY(m_mutex) = 0;          //!< last blocks that are not folded
    Result<> m_status IBD_GUARDED_BY(m_mutex);             //!< kFailed: why
};

} // namespace ibd
