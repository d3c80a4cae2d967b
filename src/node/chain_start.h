// ChainStart: brings the chain up, from what is on disk to a chainstate that can be worked on -
// block index, reindex, booster, coins, checks - and owns it from then on. Owned by Node; one
// thread, but for what it shows of the stack.
#pragma once

#include "node/booster_run.h"
#include "node/events.h"
#include "node/leftovers.h"
#include "node/options.h"
#include "node/undo_run.h"
#include "storage/data_dir.h"
#include "validation/chain_stack.h"
#include "validation/script_threads.h"

namespace ibd {

/** All that it works with; they outlive it. */
struct ChainStartParts {
    Env& env;
    Logger& log;
    const ChainParams& params;
    DataDir& dir;
    const NodeOptions& options;
    ScriptThreads& scripts;
    VerificationCaches& caches; //!< those of `scripts`
    Events& events;
    BoosterRun& booster;
    UndoRun& undo;
    const std::atomic<bool>& interrupt;
    ProgressTargets progress; //!< of all long work
    std::function<void(const std::string& status)> set_status;
    /** Called when it goes on to work that may take hours; more than once. */
    std::function<void()> started;
    /** Where the booster's blocks come from if they are not stored; see block_fetcher.h. */
    std::function<BlockFetcher*(ChainManager& chain)> start_fetcher = {};
    /** Hints of peers, where none are given and a chainstate is to be built; nothing: there are
     *  none. */
    std::function<Result<std::optional<Path>>(ChainManager& chain)> fetch_hints = {};
    /** The booster has done what it could. */
    std::function<void(BoosterRun::Outcome outcome)> booster_done = {};
};

class BlockImporter; // validation/block_import.h

class ChainStart {
public:
    explicit ChainStart(ChainStartParts parts);

    /** Before anything else looks at the chainstate: a publication that was interrupted is ended.
     */
    Result<> PrepareChainstate();
    /** Up to a chainstate, or to where it was interrupted. Again after Forget(). */
    Result<> Load();
    /** Closes all; the next Load() rebuilds index and chainstate. */
    void ForgetAndReindex();
    void Close();

    bool Reindexes() const { return m_reindex; }
    /** Whether Load() failed for what the databases hold: its message asks the user to rebuild. */
    bool AsksForReindex() const { return m_asks_for_reindex; }
    /** Null until the index is open, and after Close(). */
    ChainManager* Chain() const { return m_chain; }
    BlockStore& Blocks() { return m_stack->Blocks(); }

private:
    void WarnOfLowSpace();
    /** Damage that a rebuild heals: `what` is for the user, the rest for the log. A failure of the
     *  machine passes as it is. */
    Result<> Damaged(const char* what, Result<> result);
    ChainStackOptions StackOptions() const;
    Result<> RefuseUnpruning();

    Result<> OpenIndex();
    Result<> DestroyChainstate();
    Result<> StartReindex();
    Result<> OpenStores();
    Result<> BuildIndex();
    Result<> Reindex();
    Result<> ReindexAlone(BlockImporter& importer);
    Result<bool> CheckBlocksAreIndexed();
    Result<> LookForMissing();

    BoosterOptions BoosterSettings() const;
    Result<> ConvertHints();
    Result<> AskPeersForHints();
    Result<> TakeNextHints();
    Result<> BuildChainstate();
    Result<BoosterRun::Outcome> RunBooster();
    Result<bool> ChainstateIsEmpty();
    void TakeLightly(const Result<>& done);
    void RemoveBegun();
    Result<> DropBegun(const char* why, bool all);
    Result<> CleanUpBooster();
    Result<bool> CleanUpGivenHints();
    Result<> CleanUpOwnHints();
    Result<> CleanUpPublished();
    LeftoverPlaces WhereLeftovers() const;
    Result<uint64_t> BytesOfWork() const;
    Result<> TellOfBegun(bool has_pairs);
    Result<> TellOfTheRest();
    Result<> OpenCoins(bool wipe);
    Result<> RefuseBroken(const CoinsDb& coins);
    Result<> MakeUndo();
    Result<> RemoveUndoWork();
    Result<> MakeLastUndo();
    Result<> CheckWitnesses();
    Result<> CheckStored();
    Result<> Prune();

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    DataDir& m_dir;
    const NodeOptions& m_options;
    const std::atomic<bool>& m_interrupt;
    const ChainStartParts m_parts;
    bool m_reindex;            //!< asked for, or the way out of damage
    bool m_reindex_chainstate; //!< the same
    bool m_asks_for_reindex = false;
    bool m_told_of_work = false; //!< that the booster's folder keeps some, and of what use it is
    std::unique_ptr<ChainStack> m_stack;
    ChainManager* m_chain = nullptr; //!< the stack's
};

} // namespace ibd
