// ChainStack: a chain on disk, opened - block index, block files, and the ChainManager on both - in
// the one order that works, and closed in the reverse. Node, tests, tools and benches all start
// from it. Owned by whoever opened it; opened and closed on one thread. Memory: what the options of
// its parts say.
#pragma once

#include "storage/data_dir.h"
#include "validation/chain_manager.h"

namespace ibd {

struct ChainStackOptions {
    ChainManagerOptions manager;
    // Folders and the network's magic are filled in.
    BlockIndexDbOptions index;
    BlockStoreOptions blocks;
    CoinsDbOptions coins;
    ScriptChecker* checker = nullptr; //!< outlives the stack, as does the next
    ChainObserver* observer = nullptr;
};

class ChainStack {
public:
    /** All outlive the stack. */
    ChainStack(Env& env, Logger& log, const ChainParams& params, const DataDir& dir,
               ChainStackOptions options, const std::atomic<bool>& interrupt);

    // For whoever has something to do between the steps; in this order. The others call
    // OpenChain().

    Result<> OpenIndex();
    /** And makes the manager, which has yet to LoadIndex(). */
    Result<> OpenBlocks();
    /** For ChainManager::AttachCoins(), after StoreGenesis(). `wipe`: an empty one. */
    Result<std::unique_ptr<CoinsDb>> OpenCoins(bool wipe = false);

    BlockIndexDb& Index() { return *m_index; }
    BlockStore& Blocks() { return *m_blocks; }
    ChainManager& Chain() { return *m_chain; }

private:
    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    const DataDir& m_dir;
    const ChainStackOptions m_options;
    const std::atomic<bool>& m_interrupt;
    std::unique_ptr<BlockIndexDb> m_index;
    std::unique_ptr<BlockStore> m_blocks;
    std::unique_ptr<ChainManager> m_chain;
};

/** A chain whose manager has its index and coins, and genesis if it had nothing. What is connected
 *  is what the coins say: ActivateBestChain() is next. */
Result<std::unique_ptr<ChainStack>> OpenChain(Env& env, Logger& log, const ChainParams& params,
                                              const DataDir& dir, ChainStackOptions options,
                                              const std::atomic<bool>& interrupt);

} // namespace ibd
