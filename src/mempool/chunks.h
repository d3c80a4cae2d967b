// The chunks of the pool's clusters: transactions that are mined, or evicted, together. Pure; any
// thread.
#pragma once

#include "mempool/feerate.h"
#include "mempool/tx_pool.h"

namespace ibd {

struct Chunk {
    std::vector<const PoolTx*> txs; //!< parents before children
    FeeSize sum;

    /** Whether its fee rate is lower. */
    bool PaysLessThan(const Chunk& other) const { return CompareRates(sum, other.sum) < 0; }
};

/** The chunks of a cluster, by falling fee rate. */
std::vector<Chunk> ChunksOf(const PoolTxSet& cluster);

/** The chunks of all clusters by falling fee rate; within a cluster in its order. */
std::vector<Chunk> ChunksByRate(const TxPool& pool) IBD_REQUIRES(pool.mutex);

} // namespace ibd
