// FoldSearch: finds the coins that the last blocks of a chain spend while blocks are folded. The
// fold has parsed and hashed them already, so undo data needs no further read (scan_phase.h). If
// the last blocks are not stored at the start, the search begins once they are folded; End() then
// reads again the blocks that were folded before. Only this process can use the result. If the
// search cannot be sure to find all coins, it logs one line and gives no result. Owned by the code
// that starts the fold; threads as of FoldObserver. Memory: a CoinSearch's until End(), 4 bytes for
// each block that was folded before the search, and 8 for each block of the chain, also in the
// result.
#pragma once

#include "join/coin_search.h"
#include "join/span_blocks.h"
#include "swiftsync/fold_observer.h"
#include "util/found.h"

#include <functional>

namespace ibd {

/** The result of a search, for UndoRebuild::RunLast(); its spills are in the directory. */
struct FoundCoins {
    uint32_t first = 0; //!< the coins are those of the blocks from this height on
    JoinState state;    //!< like the state of a join that has fetched the coins of these blocks
};

class FoldSearch final : public FoldObserver {
public:
    /** Up to this many bytes of earlier blocks, End() reads on one thread; the last blocks are not
     *  counted. */
    static constexpr uint64_t kMostDeferred = uint64_t{1} << 30;

    /** JoinOptions::memory_bytes of a search that shares `memory` with its fold. */
    static constexpr size_t SearchShare(size_t memory) { return memory / 3 * 2; }
    /** The remaining memory, for the fold: a CoinSearch takes at most seven eighths of its share.
     */
    static constexpr size_t FoldShare(size_t memory)
    {
        return memory - SearchShare(memory) / 8 * 7;
    }

    using Done = std::function<void(std::optional<FoundCoins> found)>;
    /** Returns the position of a block, on any thread; null: not stored yet. */
    using PlaceOf = std::function<FilePos(const HeaderNode&)>;

    /** For the blocks from `first` to `terminal`, at most WantedCoins::kMostBlocks. The fold may go
     *  beyond `terminal`. Each block must be stored when it is folded. `options`: those of the
     *  UndoRebuild. `done`: End() calls it with the result if all coins were found; Begin() calls
     *  it with nothing, because an earlier result is then invalid. `most_deferred`: bytes of blocks
     *  that may be folded before the search begins; above it the search is abandoned. All arguments
     *  must outlive it. */
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
    /** False: one of the last blocks is not stored. */
    bool PlanLast(std::vector<PlannedBlock>& last) const;
    Result<> Collect(const std::vector<PlannedBlock>& last);
    Result<> ForEachLast(const std::vector<PlannedBlock>& last,
                         const SpanBlocks::Visit& visit) const;
    bool Defer(const BlockView& block, uint32_t height);
    Result<> CollectShown() IBD_REQUIRES(m_mutex);
    Result<> SearchDeferred();
    Found<JoinState> Conclude();
    void Drop();

    JoinJob m_job;
    const uint32_t m_first;
    const BlockStore& m_store;
    const PlaceOf m_place;
    const Done m_done;
    const uint64_t m_most_deferred;
    // These are set from Begin() to End().
    std::unique_ptr<FileLock> m_lock;
    std::vector<SpillInfo> m_kept; //!< spills of an unfinished join; the search does not touch them
    std::optional<CoinSearch> m_search;
    std::vector<std::unique_ptr<Share>> m_shares; //!< by worker
    std::atomic<Stage> m_stage = Stage::kWaiting;
    Mutex m_mutex;
    /** Heights of blocks folded before the search began. */
    std::vector<uint32_t> m_deferred IBD_GUARDED_BY(m_mutex);
    uint64_t m_deferred_bytes IBD_GUARDED_BY(m_mutex) = 0; //!< without the last blocks
    std::vector<uint32_t> m_shown IBD_GUARDED_BY(m_mutex); //!< checksums of folded last blocks
    size_t m_to_come IBD_GUARDED_BY(m_mutex) = 0;          //!< last blocks not folded yet
    Result<> m_status IBD_GUARDED_BY(m_mutex);             //!< reason of kFailed
};

} // namespace ibd
