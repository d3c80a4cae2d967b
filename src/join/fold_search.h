// FoldSearch: the coins that the last blocks of a chain spend, found while the blocks are folded
// and have been parsed and hashed for that already: whoever makes undo data need not read them once
// more (scan_phase.h). The last blocks have to be stored before. What it finds is for this process
// only; when it cannot find all, or is not sure, it finds nothing and says so in one line. Owned by
// who starts the fold; threads as of FoldObserver. Memory: a CoinSearch's, until End().
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
    using Done = std::function<void(FoundCoins found)>;

    /** `last`: all blocks from some height to `terminal`, SoughtCoins::kMostBlocks at most, stored
     *  where it says. The fold may go beyond. `options`: as of the UndoRebuild. `done`: is called
     *  by End() if all was found. All must outlive it. */
    FoldSearch(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
               const BlockStore& store, std::vector<PlannedBlock> last, JoinOptions options,
               const std::atomic<bool>& stop, Done done);
    ~FoldSearch() override;

    bool Begin(size_t workers) override;
    void Folded(size_t worker, const BlockView& block, uint32_t height) override;
    void End() override;

private:
    struct Share;

    Result<bool> Prepare(size_t workers);
    Result<> Collect();
    Result<> ForEachLast(const SpanBlocks::Visit& visit) const;
    Result<std::optional<JoinState>> Conclude();
    void Drop();

    JoinJob m_job;
    const BlockStore& m_store;
    const std::vector<PlannedBlock> m_last;
    const Done m_done;
    // From Begin() to End().
    std::unique_ptr<FileLock> m_lock;
    std::vector<SpillInfo> m_kept; //!< of a join, which are none of its business
    std::optional<CoinSearch> m_search;
    std::vector<std::unique_ptr<Share>> m_shares; //!< by worker
};

} // namespace ibd
