// ChunkWalk: the chunks of the pool in the order of mining. Reaching the transactions of a chunk
// takes several dependent reads; those of the next chunks are prefetched meanwhile. Under the
// pool's mutex; ends with the next change of the pool.
#pragma once

#include "mempool/cluster_index.h"
#include "util/prefetch.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ibd {

class ChunkWalk {
public:
    explicit ChunkWalk(const ChunkSet& chunks) : m_next(chunks.begin()), m_end(chunks.end()) {}

    /** Null: there are no more. */
    const PoolChunk* Next()
    {
        do {
            Step();
        } while (m_step <= 5 * kApart);
        return At(5 * kApart);
    }

private:
    static constexpr size_t kApart = 4; //!< chunks between two reads for the same one
    static constexpr size_t kKept = 32; //!< a power of two above 5 * kApart

    /** The chunk read `back` steps ago; null: there was none. */
    const PoolChunk* At(size_t back) const
    {
        return back < m_step ? m_ring[(m_step - 1 - back) % kKept] : nullptr;
    }
    static const PoolTx& FirstOf(const PoolChunk& chunk) { return *chunk.Txs().front(); }

    void Step()
    {
        m_ring[m_step++ % kKept] = m_next == m_end ? nullptr : *m_next++;
        Prefetch(At(0));
        if (const PoolChunk* const chunk = At(kApart)) Prefetch(chunk->cluster);
        if (const PoolChunk* const chunk = At(2 * kApart)) {
            __builtin_prefetch(chunk->Txs().data());
        }
        if (const PoolChunk* const chunk = At(3 * kApart)) Prefetch(&FirstOf(*chunk));
        if (const PoolChunk* const chunk = At(4 * kApart)) Prefetch(FirstOf(*chunk).tx.get());
    }

    ChunkSet::const_iterator m_next;
    const ChunkSet::const_iterator m_end;
    std::array<const PoolChunk*, kKept> m_ring{};
    size_t m_step = 0; //!< chunks read, and then nulls
};

/** Calls `visit(ids, txs)` for about `count` transactions and their wtxids, until it returns false.
 *  In groups, so that the caller can hash many ids at once. */
template <typename Visit>
void VisitToMine(const ChunkSet& chunks, size_t count, const Visit& visit)
{
    constexpr size_t kGroup = 64; // at least, but for the last
    std::vector<Wtxid> ids;
    std::vector<TransactionRef> txs;
    ChunkWalk walk(chunks);
    while (const PoolChunk* const chunk = count > 0 ? walk.Next() : nullptr) {
        for (const PoolTx* const tx : chunk->Txs()) {
            ids.push_back(tx->tx->WitnessId());
            txs.push_back(tx->tx);
        }
        count -= std::min(count, chunk->Txs().size());
        if (txs.size() < kGroup) continue;
        if (!visit(ids, txs)) return;
        ids.clear();
        txs.clear();
    }
    if (!txs.empty()) visit(ids, txs);
}

} // namespace ibd
