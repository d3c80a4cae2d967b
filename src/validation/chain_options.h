// ChainManagerOptions, SnapshotStart and ChainStores: the settings of a chain, its beginning, and
// the machine and stores that it uses.
#pragma once

#include "chain/prune_locks.h"
#include "consensus/params.h"
#include "crypto/siphash.h"
#include "primitives/arith256.h"
#include "primitives/block.h"
#include "storage/block_index_db.h"
#include "storage/block_store.h"
#include "util/env.h"
#include "util/log.h"

namespace ibd {

struct ChainManagerOptions {
    size_t cache_bytes = 450 << 20;     //!< bound of the coins cache (-dbcache less LevelDB's part)
    BlockHash assume_valid;             //!< -assumevalid; null: run all scripts
    BlockHash known_valid; //!< if scripts run up to this block, signatures may be verified in
                           //!< batches; null: no such block
    Arith256 minimum_work;              //!< -minimumchainwork
    SipKey hash_key{};                  //!< random, keys the coins table
    size_t threads = 1;                 //!< threads for reading coins ahead, including the caller's
    int64_t max_tip_age = 24 * 60 * 60; //!< -maxtipage, seconds
    /** Bytes that block and undo files should stay below (-prune). 0: none is deleted;
     *  kManualPruning: only on request. */
    uint64_t prune_target = 0;
    std::vector<PruneLocks*> prune_locks; //!< limit pruning; outlive the chain
    /** The node has a network: damaged stored blocks are requested again from peers. */
    bool peers_bring_blocks = false;
};

/** The start of a chain whose coins are those of a snapshot. */
struct SnapshotStart {
    const AssumeutxoData& data;
    BlockHash historical; //!< the block of the older coins beside them
};

/** The machine and the stores of a manager; all outlive it. */
struct ChainStores {
    Env& env;
    Logger& log;
    BlockStore& blocks;
    BlockIndexDb& index;
};

} // namespace ibd
