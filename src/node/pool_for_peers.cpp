// See pool_for_peers.h.
#include "node/pool_for_peers.h"

#include "mempool/chunk_walk.h"

#include <algorithm>

namespace ibd {

namespace {

/** Transactions of the list that are visited under one lock. */
constexpr size_t kAtOnce = 256;

double MiningRateOf(const PoolTx& tx)
{
    const FeeSize& sum = tx.cluster->chunks[tx.chunk].sum;
    return static_cast<double>(sum.fee) / static_cast<double>(sum.size);
}

PeerPool::Entry EntryOf(const PoolTx& tx)
{
    return {.tx = tx.tx,
            .fee = tx.fee,
            .vsize = tx.vsize,
            .sequence = tx.sequence,
            .mining_rate = MiningRateOf(tx),
            .has_parents = !tx.parents.empty()};
}

bool IsMinedBefore(const PoolTx* a, const PoolTx* b)
{
    const PoolChunk* const chunk_a = &a->cluster->chunks[a->chunk];
    const PoolChunk* const chunk_b = &b->cluster->chunks[b->chunk];
    return chunk_a == chunk_b ? a->place < b->place : BestChunkFirst()(chunk_a, chunk_b);
}

std::vector<PeerPool::Entry> Sorted(std::vector<const PoolTx*> txs)
{
    std::sort(txs.begin(), txs.end(), IsMinedBefore);
    std::vector<PeerPool::Entry> out;
    out.reserve(txs.size());
    for (const PoolTx* tx : txs) out.push_back(EntryOf(*tx));
    return out;
}

} // namespace

PoolForPeers::PoolForPeers(TxPool& pool, const PolicyOptions& policy, TxIntake& intake, Env& env)
    : m_pool(pool), m_policy(policy), m_intake(intake), m_env(env)
{
    pool.AddListener(*this);
}

const PoolTx* PoolForPeers::FindIn(const TxKey& key) const
{
    return key.is_wtxid ? m_pool.FindWitness(key.hash) : m_pool.Find(key.hash);
}

bool PoolForPeers::Has(const TxKey& key) const
{
    const Lock lock(m_pool.mutex);
    return FindIn(key) != nullptr;
}

std::optional<PeerPool::Entry> PoolForPeers::Find(const TxKey& key) const
{
    const Lock lock(m_pool.mutex);
    const PoolTx* const found = FindIn(key);
    return found ? std::optional(EntryOf(*found)) : std::nullopt;
}

std::vector<PeerPool::Entry> PoolForPeers::All() const
{
    const Lock lock(m_pool.mutex);
    std::vector<Entry> out;
    for (const PoolTx* tx : m_pool.InOrder()) out.push_back(EntryOf(*tx));
    return out;
}

std::vector<PeerPool::Entry> PoolForPeers::InMiningOrder(std::span<const Wtxid> ids) const
{
    const Lock lock(m_pool.mutex);
    std::vector<const PoolTx*> found;
    for (const Wtxid& id : ids) {
        if (const PoolTx* const tx = m_pool.FindWitness(id)) found.push_back(tx);
    }
    return Sorted(std::move(found));
}

std::vector<std::optional<double>> PoolForPeers::MiningRates(std::span<const Wtxid> ids) const
{
    std::vector<std::optional<double>> out(ids.size());
    const Lock lock(m_pool.mutex);
    for (size_t i = 0; i < ids.size(); ++i) {
        if (const PoolTx* const tx = m_pool.FindWitness(ids[i])) out[i] = MiningRateOf(*tx);
    }
    return out;
}

std::vector<PeerPool::Entry> PoolForPeers::AncestorsOf(const Wtxid& id) const
{
    const Lock lock(m_pool.mutex);
    const PoolTx* const tx = m_pool.FindWitness(id);
    if (!tx) return {};
    const PoolTxSet ancestors = TxPool::Ancestors(*tx);
    return Sorted({ancestors.begin(), ancestors.end()});
}

uint64_t PoolForPeers::Sequence() const
{
    const Lock lock(m_pool.mutex);
    return m_pool.Sequence();
}

Amount PoolForPeers::FullRate() const
{
    const Lock lock(m_pool.mutex);
    return m_pool.MinFeeRate(m_env.UnixTime());
}

std::vector<PeerPool::Entry> PoolForPeers::Unbroadcast() const
{
    const Lock lock(m_pool.mutex);
    std::vector<Entry> out;
    for (const PoolTx* tx : m_pool.Unbroadcast()) out.push_back(EntryOf(*tx));
    return out;
}

void PoolForPeers::SetBroadcast(const Txid& id)
{
    const Lock lock(m_pool.mutex);
    m_pool.SetBroadcast(id, true);
}

// The pool's thread needs the lock, so it is held for a few transactions at a time.
void PoolForPeers::ForEachTransaction(const Visit& more) const
{
    for (size_t next = 0;; next += kAtOnce) {
        const Lock lock(m_mutex);
        const size_t end = std::min(next + kAtOnce, m_wtxids.size());
        if (next >= end) return;
        const auto ids = std::span(m_wtxids).subspan(next, end - next);
        if (!more(ids, m_list.Places().subspan(next, end - next))) return;
    }
}

void PoolForPeers::ForEachToMine(size_t count, const Visit& more) const
{
    if (!m_pool.mutex.try_lock()) return; // a call may hold it for long
    VisitToMine(m_pool.Chunks(), count, more);
    m_pool.mutex.unlock();
}

void PoolForPeers::TxAdded(const PoolTx& tx, uint64_t)
{
    const Lock lock(m_mutex);
    tx.listed_at = m_list.Add(tx.tx);
    m_wtxids.resize(m_list.Places().size());
    m_wtxids[tx.listed_at] = tx.tx->WitnessId();
}

// The place stays empty: moving another transaction there would cause a cache miss.
void PoolForPeers::TxRemoved(const PoolTx& tx, RemovalReason, uint64_t)
{
    const Lock lock(m_mutex);
    const auto list = m_list.Places();
    CHECK(tx.listed_at < list.size() && list[tx.listed_at] == tx.tx);
    m_list.Take(tx.listed_at);
}

} // namespace ibd
