// See linearize.h.
#include "mempool/linearize.h"

#include "util/check.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

using Mask = uint64_t; //!< set of transactions by position in a cluster
__extension__ typedef __int128 Int128;

constexpr size_t kMostTxs = 64;
constexpr Mask Bit(size_t at) { return Mask{1} << at; }

/** Fee and size are below 2^51 and 2^27, so the products fit. */
bool PaysLess(Amount fee, int64_t weight, Amount other_fee, int64_t other_weight)
{
    return static_cast<Int128>(fee) * other_weight < static_cast<Int128>(other_fee) * weight;
}

class Linearizer {
public:
    explicit Linearizer(const PoolTxSet& cluster) : m_txs(cluster.begin(), cluster.end())
    {
        CHECK(m_txs.size() <= kMostTxs);
        // In this order ancestors precede their descendants.
        std::sort(m_txs.begin(), m_txs.end(),
                  [](const PoolTx* a, const PoolTx* b) { return a->sequence < b->sequence; });
        for (size_t i = 0; i < m_txs.size(); ++i) m_ancestors.push_back(AncestorsOf(i));
    }

    std::vector<Chunk> Run()
    {
        std::vector<Chunk> chunks;
        Mask left = m_txs.size() == kMostTxs ? ~Mask{0} : Bit(m_txs.size()) - 1;
        while (left != 0) {
            const Mask next = BestSet(left);
            left &= ~next;
            chunks.push_back(ChunkOf(next));
            while (chunks.size() > 1 && chunks[chunks.size() - 2].PaysLessThan(chunks.back())) {
                MergeLast(chunks);
            }
        }
        return chunks;
    }

private:
    Mask AncestorsOf(size_t at) const
    {
        Mask mask = Bit(at);
        for (size_t i = 0; i < at; ++i) {
            if (m_txs[at]->parents.count(m_txs[i]) != 0) mask |= m_ancestors[i];
        }
        return mask;
    }

    Chunk ChunkOf(Mask mask) const
    {
        Chunk chunk;
        for (; mask != 0; mask &= mask - 1) {
            const PoolTx* const tx = m_txs[static_cast<size_t>(std::countr_zero(mask))];
            chunk.txs.push_back(tx);
            chunk.fee += tx->fee;
            chunk.weight += tx->weight;
        }
        return chunk;
    }

    /** The transaction whose remaining ancestors, with itself, pay the best rate together. */
    Mask BestSet(Mask left) const
    {
        Mask best = 0;
        Chunk best_chunk;
        for (Mask todo = left; todo != 0; todo &= todo - 1) {
            const Mask set = m_ancestors[static_cast<size_t>(std::countr_zero(todo))] & left;
            Chunk chunk = ChunkOf(set);
            if (best != 0 && !best_chunk.PaysLessThan(chunk)) continue;
            best = set;
            best_chunk = std::move(chunk);
        }
        return best;
    }

    static void MergeLast(std::vector<Chunk>& chunks)
    {
        const Chunk last = std::move(chunks.back());
        chunks.pop_back();
        Chunk& into = chunks.back();
        into.txs.insert(into.txs.end(), last.txs.begin(), last.txs.end());
        into.fee += last.fee;
        into.weight += last.weight;
    }

    std::vector<const PoolTx*> m_txs;
    std::vector<Mask> m_ancestors; //!< including the transaction itself
};

} // namespace

bool Chunk::PaysLessThan(const Chunk& other) const
{
    return PaysLess(fee, weight, other.fee, other.weight);
}

std::vector<Chunk> Linearize(const PoolTxSet& cluster) { return Linearizer(cluster).Run(); }

std::vector<Chunk> ChunksByRate(const TxPool& pool)
{
    std::vector<Chunk> all;
    PoolTxSet seen;
    for (const auto& [id, tx] : pool.All()) {
        if (seen.count(tx.get()) != 0) continue;
        const PoolTxSet cluster = TxPool::Cluster({tx.get()});
        seen.insert(cluster.begin(), cluster.end());
        for (Chunk& chunk : Linearize(cluster)) all.push_back(std::move(chunk));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Chunk& a, const Chunk& b) { return b.PaysLessThan(a); });
    return all;
}

} // namespace ibd
