// ClusterIndex: the clusters of the pool, each in its mining order and cut into chunks, and one
// order over all chunks. Owned by TxPool; under its mutex. The cost of a change is proportional to
// the clusters that it touches, plus a logarithm of the number of all chunks for each of their
// chunks.
#pragma once

#include "mempool/linearize.h"
#include "mempool/pool_tx.h"
#include "util/place_list.h"

#include <memory>

namespace ibd {

struct PoolChunk;

/** The best first; of equal rates the one with the least `equal_size`, then the least `last_id`, as
 *  in Core; so within a cluster in its order. */
struct BestChunkFirst {
    bool operator()(const PoolChunk* a, const PoolChunk* b) const;
};
using ChunkSet = std::set<const PoolChunk*, BestChunkFirst>;

/** Transactions that are mined, or evicted, together. */
struct PoolChunk {
    const PoolCluster* cluster = nullptr;
    uint32_t first = 0; //!< place in the cluster
    uint32_t count = 0;
    FeeSize sum;                //!< with modified fees
    int64_t equal_size = 0;     //!< of it and the chunks of equal rate before it in the cluster
    Txid last_id{};             //!< the greatest of its transactions
    ChunkSet::iterator at = {}; //!< in the index of all chunks, after it was added

    std::span<const PoolTx* const> Txs() const;
    /** Whether it is the last chunk of its cluster. */
    bool IsLast() const;
};

/** All transactions that are connected by spends. At most 64. */
struct PoolCluster {
    std::vector<const PoolTx*> txs; //!< mining order: parents before children
    std::vector<PoolChunk> chunks;  //!< in the same order
    bool optimal = true;
    size_t listed_at = 0; //!< in the index of all clusters, after it was added

    PoolCluster() = default;
    PoolCluster(const PoolCluster&) = delete; // chunks point to it
    PoolCluster& operator=(const PoolCluster&) = delete;
};

/** Puts transactions into their mining order. `graph`: indexed like `txs`. */
std::unique_ptr<PoolCluster> MakeCluster(std::span<const PoolTx* const> txs,
                                         const ClusterGraph& graph);

class ClusterIndex {
public:
    void Insert(std::unique_ptr<PoolCluster> cluster);
    /** Removes a cluster. Its transactions must then be put into another cluster, or leave the
     *  pool. */
    void Remove(const PoolCluster& cluster);
    /** Prefetch the memory that Remove() will need. Call both steps in order, some removals before.
     */
    void PrefetchChunks(const PoolCluster& cluster) const;
    static void PrefetchNodes(const PoolCluster& cluster);

    const ChunkSet& Chunks() const { return m_chunks; }
    size_t Size() const { return m_clusters.Size(); }
    /** The part of the transactions' memory that depends on clusters, bytes (pool_memory.h). */
    int64_t Memory() const;
    /** Whether the budget sufficed for all clusters. */
    bool IsOptimal() const { return m_not_optimal == 0; }

private:
    PlaceList<std::unique_ptr<PoolCluster>> m_clusters; //!< each knows its place
    ChunkSet m_chunks;
    size_t m_not_optimal = 0;
    size_t m_shared = 0;     //!< clusters of several transactions
    size_t m_shared_txs = 0; //!< their transactions
};

} // namespace ibd
