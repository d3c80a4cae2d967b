// The order in which dependent transactions are worth mining: chunks of falling fee rate, each
// after all that it needs. Greedy by the best set of ancestors: a valid order, not always the
// optimal one. Pure; any thread.
#pragma once

#include "mempool/tx_pool.h"

namespace ibd {

/** Transactions that are mined, or evicted, together. */
struct Chunk {
    std::vector<const PoolTx*> txs; //!< parents before children
    Amount fee = 0;
    int64_t weight = 0; //!< AdjustedWeight

    /** Whether its fee rate is lower. */
    bool PaysLessThan(const Chunk& other) const;
};

/** Linearizes a cluster of at most 64 transactions. Time cubic in their number. */
std::vector<Chunk> Linearize(const PoolTxSet& cluster);

/** The chunks of all clusters by falling fee rate; within a cluster in its order. */
std::vector<Chunk> ChunksByRate(const TxPool& pool) IBD_REQUIRES(pool.mutex);

} // namespace ibd
