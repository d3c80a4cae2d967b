// ChainStart: brings the chain from its state on disk to a usable chainstate (block index, reindex,
// booster, coins, checks) and owns it afterwards. Owned by Node. One thread; after Load() others
// may call Chain() and Blocks().
#pragma once

#include "booster/booster_session.h"
#include "booster/snapshot_session.h"
#include "index/indexes.h"
#include "node/chain_events.h"
#include "node/options.h"
#include "storage/data_dir.h"
#include "validation/chain_stack.h"
#include "validation/script_threads.h"

namespace ibd {

/** The objects that it uses; they outlive it. */
struct ChainStartParts {
    Env& env;
    Logger& log;
    const ChainParams& params;
    DataDir& dir;
    const NodeOptions& options;
    ScriptThreads& scripts;
    VerificationCaches& caches; //!< also used by `scripts`
    ChainEvents& events;
    Indexes& indexes; //!< not open yet
    BoosterSession& booster;
    SnapshotSession& snapshots;
    SessionHooks booster_hooks;
    const std::atomic<bool>& interrupt;
    ProgressTargets progress; //!< of all long work
    std::function<void(const std::string& status)> set_status;
    /** Called before work that may take hours; possibly several times. */
    std::function<void()> started;
};

class BlockImporter; // validation/block_import.h

class ChainStart {
public:
    explicit ChainStart(ChainStartParts parts);

    /** Call before any access to the chainstate: completes an interrupted publication. */
    Result<> PrepareChainstate();
    /** Loads or builds index and chainstate. Call it again after ForgetAndReindex(). */
    Result<> Load();
    /** Deletes block files that exceed -prune=<n>. Call it when the indexes, which may need the
     *  files, are open. */
    Result<> Prune();
    /** Closes everything; the next Load() rebuilds index and chainstate. */
    void ForgetAndReindex();
    void Close();

    bool Reindexes() const { return m_reindex; }
    /** Whether Load() failed because of the databases: its message then asks the user to rebuild.
     */
    bool AsksForReindex() const { return m_asks_for_reindex; }
    /** Null before the index is open, and after Close(). */
    ChainManager* Chain() const { return m_chain; }
    BlockStore& Blocks() { return m_stack->Blocks(); }

private:
    /** Damage that a rebuild repairs: `what` is for the user, the rest for the log. A failure of
     *  the machine is passed on unchanged. */
    Result<> Damaged(const char* what, Result<> result);
    Result<> RefuseUnpruning();

    Result<> OpenIndex();
    Result<> DestroyCoinsAndIndexes();
    Result<> StartReindex();
    Result<> OpenStores();
    Result<> BuildIndex();
    Result<> Reindex();
    Result<> ReindexAlone(BlockImporter& importer);
    Result<bool> CheckBlocksAreIndexed();
    Result<> LookForMissing();

    Result<bool> MustBuild();
    Result<> BuildChainstate();
    Result<bool> ChainstateIsEmpty();
    Result<> OpenCoins(bool wipe);
    Result<> CheckStored();

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    DataDir& m_dir;
    const NodeOptions& m_options;
    const std::atomic<bool>& m_interrupt;
    const ChainStartParts m_parts;
    bool m_reindex;            //!< requested, or the remedy for damage
    bool m_reindex_chainstate; //!< requested, or the remedy for damage
    std::string m_break;       //!< places where files break the chain; see TellBreakIn()
    bool m_asks_for_reindex = false;
    std::unique_ptr<ChainStack> m_stack;
    ChainManager* m_chain = nullptr; //!< owned by the stack
};

} // namespace ibd
