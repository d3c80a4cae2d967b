// See chunks.h.
#include "mempool/chunks.h"

#include "mempool/linearize.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

/** Indexed by txid. */
ClusterGraph GraphOf(const std::vector<const PoolTx*>& txs)
{
    ClusterGraph graph;
    std::map<const PoolTx*, size_t> index;
    for (const PoolTx* tx : txs) {
        index.emplace(tx, index.size());
        graph.txs.push_back({tx->fee, tx->weight});
    }
    graph.ancestors.resize(txs.size());
    std::vector<const PoolTx*> parents_first = txs;
    std::sort(parents_first.begin(), parents_first.end(),
              [](const PoolTx* a, const PoolTx* b) { return a->sequence < b->sequence; });
    for (const PoolTx* tx : parents_first) {
        TxMask mask = TxMask{1} << index.at(tx);
        for (const PoolTx* parent : tx->parents) mask |= graph.ancestors[index.at(parent)];
        graph.ancestors[index.at(tx)] = mask;
    }
    return graph;
}

} // namespace

std::vector<Chunk> ChunksOf(const PoolTxSet& cluster)
{
    const std::vector<const PoolTx*> txs(cluster.begin(), cluster.end());
    const Linearization linear = Linearize(GraphOf(txs));
    std::vector<Chunk> chunks;
    size_t next = 0;
    for (const LinearChunk& chunk : linear.chunks) {
        Chunk& out = chunks.emplace_back();
        out.sum = chunk.sum;
        const auto count = static_cast<size_t>(std::popcount(chunk.txs));
        for (size_t i = 0; i < count; ++i) out.txs.push_back(txs[linear.order[next++]]);
    }
    return chunks;
}

std::vector<Chunk> ChunksByRate(const TxPool& pool)
{
    std::vector<Chunk> all;
    PoolTxSet seen;
    for (const auto& [id, tx] : pool.All()) {
        if (seen.count(tx.get()) != 0) continue;
        const PoolTxSet cluster = TxPool::Cluster({tx.get()});
        seen.insert(cluster.begin(), cluster.end());
        for (Chunk& chunk : ChunksOf(cluster)) all.push_back(std::move(chunk));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Chunk& a, const Chunk& b) { return b.PaysLessThan(a); });
    return all;
}

} // namespace ibd
