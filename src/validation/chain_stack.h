// ChainStack: an open chain: block index, block files, and the ChainManager that uses both. Opens
// them in the required order and closes them in reverse. Used by node, tests, tools and benches.
// Owned by its opener; opened and closed on one thread. Memory: according to the options of its
// parts.
#pragma once

#include "storage/data_dir.h"
#include "validation/chain_manager.h"

namespace ibd {

struct ChainStackOptions {
    ChainManagerOptions manager;
    // Folders and the network's magic are filled in by the stack.
    BlockIndexDbOptions index;
    BlockStoreOptions blocks;
    CoinsDbOptions coins;
    ScriptChecker* checker = nullptr; //!< outlives the stack, like the next member
    ChainObserver* observer = nullptr;
};

class ChainStack {
public:
    /** All arguments outlive the stack. */
    ChainStack(Env& env, Logger& log, const ChainParams& params, const DataDir& dir,
               ChainStackOptions options, const std::atomic<bool>& interrupt);

    // The steps of OpenChain(), in order, for callers that do other work between them.

    Result<> OpenIndex();
    /** Opens the stores and creates the manager; call its LoadIndex() next. */
    Result<> OpenBlocks();
    /** Opens coins for ChainManager::AttachCoins(), after StoreGenesis(). `wipe`: an empty
     *  database. */
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
    std::vector<BlockFileInfo> m_files; //!< the index's records, until the store takes them
    std::unique_ptr<BlockStore> m_blocks;
    std::unique_ptr<ChainManager> m_chain;
};

/** Opens a chain with index and coins, and with genesis if it was empty. Only the blocks that the
 *  coins contain are connected: call ActivateBestChain() next. */
Result<std::unique_ptr<ChainStack>> OpenChain(Env& env, Logger& log, const ChainParams& params,
                                              const DataDir& dir, ChainStackOptions options,
                                              const std::atomic<bool>& interrupt);

} // namespace ibd
