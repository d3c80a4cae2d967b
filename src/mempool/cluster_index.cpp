// See cluster_index.h.
#include "mempool/cluster_index.h"

#include "mempool/pool_memory.h"
#include "util/check.h"

#include <algorithm>
#include <bit>

namespace ibd {

Amount AddSaturating(Amount a, Amount b)
{
    Amount sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b > 0 ? std::numeric_limits<Amount>::max() : std::numeric_limits<Amount>::min();
}

Amount ModifiedFee(Amount fee, Amount delta)
{
    return std::clamp(AddSaturating(fee, delta), -kMaxModifiedFee, kMaxModifiedFee);
}

std::span<const PoolTx* const> PoolChunk::Txs() const
{
    return std::span(cluster->txs).subspan(first, count);
}

bool PoolChunk::IsLast() const { return first + count == cluster->txs.size(); }

bool BestChunkFirst::operator()(const PoolChunk* a, const PoolChunk* b) const
{
    const auto order = CompareRates(a->sum, b->sum);
    if (order != 0) return order > 0;
    if (a->equal_size != b->equal_size) return a->equal_size < b->equal_size;
    return a->last_id < b->last_id;
}

namespace {

/** Adds the next chunk, with the fields that follow from the others. */
void AddChunk(PoolCluster& cluster, PoolChunk chunk)
{
    const PoolChunk* const before = cluster.chunks.empty() ? nullptr : &cluster.chunks.back();
    const bool equal = before && CompareRates(before->sum, chunk.sum) == 0;
    chunk.equal_size = chunk.sum.size + (equal ? before->equal_size : 0);
    for (const PoolTx* tx : chunk.Txs()) chunk.last_id = std::max(chunk.last_id, tx->Id());
    cluster.chunks.push_back(chunk);
}

} // namespace

std::unique_ptr<PoolCluster> MakeCluster(std::span<const PoolTx* const> txs,
                                         const ClusterGraph& graph)
{
    const Linearization linear = Linearize(graph);
    auto cluster = std::make_unique<PoolCluster>();
    cluster->optimal = linear.optimal;
    cluster->txs.reserve(txs.size());
    for (const uint8_t at : linear.order) cluster->txs.push_back(txs[at]);
    uint32_t first = 0;
    for (const LinearChunk& chunk : linear.chunks) {
        const auto count = static_cast<uint32_t>(std::popcount(chunk.txs));
        AddChunk(*cluster, {cluster.get(), first, count, chunk.sum});
        first += count;
    }
    return cluster;
}

void ClusterIndex::Insert(std::unique_ptr<PoolCluster> cluster)
{
    uint32_t number = 0;
    for (PoolChunk& chunk : cluster->chunks) {
        for (uint32_t i = 0; i < chunk.count; ++i) {
            const PoolTx& tx = *cluster->txs[chunk.first + i];
            tx.cluster = cluster.get();
            tx.place = chunk.first + i;
            tx.chunk = number;
        }
        ++number;
        const auto [at, is_new] = m_chunks.insert(&chunk);
        CHECK(is_new);
        chunk.at = at;
    }
    m_not_optimal += cluster->optimal ? 0 : 1;
    if (cluster->txs.size() > 1) {
        ++m_shared;
        m_shared_txs += cluster->txs.size();
    }
    PoolCluster& added = *cluster;
    added.listed_at = m_clusters.Add(std::move(cluster));
}

void ClusterIndex::PrefetchChunks(const PoolCluster& cluster) const
{
    __builtin_prefetch(cluster.chunks.data());
    __builtin_prefetch(&m_clusters.Places()[cluster.listed_at]);
}

void ClusterIndex::PrefetchNodes(const PoolCluster& cluster)
{
    for (const PoolChunk& chunk : cluster.chunks) __builtin_prefetch(&*chunk.at);
}

void ClusterIndex::Remove(const PoolCluster& cluster)
{
    for (const PoolChunk& chunk : cluster.chunks) m_chunks.erase(chunk.at);
    m_not_optimal -= cluster.optimal ? 0 : 1;
    if (cluster.txs.size() > 1) {
        --m_shared;
        m_shared_txs -= cluster.txs.size();
    }
    const size_t at = cluster.listed_at;
    CHECK(at < m_clusters.Places().size() && m_clusters.Places()[at].get() == &cluster);
    m_clusters.Take(at);
}

int64_t ClusterIndex::Memory() const { return PoolMemoryOfClusters(m_shared, m_shared_txs); }

} // namespace ibd
