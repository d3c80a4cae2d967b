// The order in which transactions that hang together are worth mining: chunks of falling fee rate,
// each with all that it needs before it. Greedy by the best set of ancestors: right for what it
// gives, not always the best there is. Pure; any thread.
#pragma once

#include "mempool/tx_pool.h"

namespace ibd {

/** Transactions that are mined, or dropped, together. */
struct Chunk {
    std::vector<const PoolTx*> txs; //!< parents before children
    Amount fee = 0;
    int64_t weight = 0; //!< AdjustedWeight

    /** Pays less for its size. */
    bool PaysLessThan(const Chunk& other) const;
};

/** A whole cluster, of at most 64 transactions. Time cubic in their number. */
std::vector<Chunk> Linearize(const PoolTxSet& cluster);

/** The chunks of all clusters, those that pay most first; within a cluster in its order. */
std::vector<Chunk> ChunksByRate(const TxPool& pool) IBD_REQUIRES(pool.mutex);

} // namespace ibd
