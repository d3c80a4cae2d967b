// See tx_pool.h.
#include "mempool/tx_pool.h"

#include "consensus/limits.h"
#include "util/check.h"

namespace ibd {

namespace {

/** All transactions reachable by links of one kind, without the start. */
PoolTxSet Reach(const PoolTx& start, PoolTxSet PoolTx::*links)
{
    PoolTxSet found;
    std::vector<const PoolTx*> todo{&start};
    while (!todo.empty()) {
        const PoolTx* const tx = todo.back();
        todo.pop_back();
        for (const PoolTx* other : tx->*links) {
            if (found.insert(other).second) todo.push_back(other);
        }
    }
    return found;
}

} // namespace

TxPool::TxPool(PoolLimits limits, SipKey key)
    : m_limits(limits), m_id_hasher(key), m_outpoint_hasher(key),
      m_rolling_fee(limits.incremental_fee)
{
}

const char* NameOf(RemovalReason reason)
{
    switch (reason) {
    case RemovalReason::kExpiry: return "expiry";
    case RemovalReason::kSizeLimit: return "sizelimit";
    case RemovalReason::kReorg: return "reorg";
    case RemovalReason::kBlock: return "block";
    case RemovalReason::kConflict: return "conflict";
    case RemovalReason::kReplaced: return "replaced";
    }
    return "";
}

const PoolTx* TxPool::Find(const Txid& id) const
{
    return m_by_id.Find(m_id_hasher(id), [&](const PoolTx& tx, uint32_t) { return tx.Id() == id; });
}

std::vector<const PoolTx*> TxPool::FindAll(std::span<const TxView> txs) const
{
    std::vector<uint64_t> hashes;
    hashes.reserve(txs.size());
    for (const TxView& tx : txs) hashes.push_back(m_id_hasher(tx.txid));
    std::vector<const PoolTx*> found = m_by_id.Candidates(hashes);
    for (size_t i = 0; i < txs.size(); ++i) {
        if (found[i] && found[i]->Id() != txs[i].txid) found[i] = Find(txs[i].txid);
    }
    return found;
}

const PoolTx* TxPool::FindWitness(const Wtxid& id) const
{
    return m_by_wtxid.Find(m_id_hasher(id),
                           [&](const PoolTx& tx, uint32_t) { return tx.tx->WitnessId() == id; });
}

const PoolTx* TxPool::Spender(const OutPoint& outpoint) const
{
    return m_spenders.Find(m_outpoint_hasher(outpoint), [&](const PoolTx& tx, uint32_t input) {
        return (*tx.tx)->inputs[input].Prevout() == outpoint;
    });
}

PoolTxSet TxPool::SpendersOf(const Txid& id, size_t outputs) const
{
    PoolTxSet spenders;
    for (uint32_t i = 0; i < outputs; ++i) {
        if (const PoolTx* const spender = Spender({id, i})) spenders.insert(spender);
    }
    return spenders;
}

PoolTxSet TxPool::ParentsOf(const TxView& tx) const
{
    PoolTxSet parents;
    for (const InputView& input : tx.inputs) {
        if (const PoolTx* parent = Find(input.Prevout().txid)) parents.insert(parent);
    }
    return parents;
}

PoolTxSet TxPool::Ancestors(const PoolTx& tx) { return Reach(tx, &PoolTx::parents); }

PoolTxSet TxPool::Descendants(const PoolTx& tx) { return Reach(tx, &PoolTx::children); }

bool TxPool::Fits(size_t count, int64_t weight) const
{
    return count <= m_limits.cluster_count &&
           weight <= m_limits.cluster_vsize * kWitnessScaleFactor;
}

void TxPool::Insert(std::unique_ptr<PoolTx> tx)
{
    PoolTx& added = *tx;
    added.sequence = m_sequence++;
    for (const PoolTx* parent : added.parents) parent->children.insert(&added);
    for (const PoolTx* child : added.children) child->parents.insert(&added);
    CHECK(!Find(added.Id()) && !FindWitness(added.tx->WitnessId()));
    added.id_hash = m_id_hasher(added.Id());
    added.wtxid_hash = m_id_hasher(added.tx->WitnessId());
    m_by_id.Insert(added.id_hash, added);
    m_by_wtxid.Insert(added.wtxid_hash, added);
    const auto inputs = (*added.tx)->inputs;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
        CHECK(!Spender(inputs[i].Prevout()));
        const uint64_t hash = m_outpoint_hasher(inputs[i].Prevout());
        if (i == 0) added.spent_hash = hash;
        m_spenders.Insert(hash, added, i);
    }
    if (added.own) m_unbroadcast.insert(&added);
    m_vsize += added.vsize;
    m_fees += added.fee;
    added.memory = static_cast<int64_t>(PoolMemoryOf(added.tx->View()));
    m_tx_memory += added.memory;
    ++m_updates;
    m_txs.Add(std::move(tx));
    m_slots.Grow(m_txs.Size());
    for (PoolEvents* listener : m_listeners) listener->TxAdded(added, added.sequence);
}

void TxPool::PrefetchErase(const PoolTx& tx) const
{
    m_by_id.Prefetch(tx.id_hash);
    m_by_wtxid.Prefetch(tx.wtxid_hash);
    m_spenders.Prefetch(tx.spent_hash);
    m_txs.Prefetch(tx);
    for (const PoolEvents* listener : m_listeners) listener->PrefetchRemoval(tx);
}

void TxPool::Erase(const PoolTx& tx, RemovalReason reason)
{
    const uint64_t sequence = m_sequence++;
    for (PoolEvents* listener : m_listeners) listener->TxRemoved(tx, reason, sequence);
    for (const PoolTx* parent : tx.parents) parent->children.erase(&tx);
    for (const PoolTx* child : tx.children) child->parents.erase(&tx);
    m_by_id.Erase(tx.id_hash, tx);
    m_by_wtxid.Erase(tx.wtxid_hash, tx);
    const auto inputs = (*tx.tx)->inputs;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
        m_spenders.Erase(i == 0 ? tx.spent_hash : m_outpoint_hasher(inputs[i].Prevout()), tx, i);
    }
    if (tx.own) m_unbroadcast.erase(&tx);
    m_vsize -= tx.vsize;
    m_fees -= tx.fee;
    m_tx_memory -= tx.memory;
    ++m_updates;
    m_slots.Shrink(m_txs.Size() - 1);
    m_txs.Take(tx);
}

void TxPool::BlockConnected(int32_t height, int64_t now)
{
    m_rolling_fee.BlockConnected(now);
    for (PoolEvents* listener : m_listeners) listener->BlockConfirmed(height);
}

void TxPool::RecordDelta(const Txid& id, Amount delta)
{
    if (Find(id)) ++m_updates;
    if (delta == 0) {
        m_deltas.erase(id);
    } else {
        m_deltas[id] = delta;
    }
}

Amount TxPool::DeltaOf(const Txid& id) const
{
    const auto it = m_deltas.find(id);
    return it == m_deltas.end() ? 0 : it->second;
}

void TxPool::SetBroadcast(const Txid& id, bool done)
{
    const PoolTx* const tx = Find(id);
    if (!tx) return;
    tx->own = !done;
    if (done) {
        m_unbroadcast.erase(tx);
    } else {
        m_unbroadcast.insert(tx);
    }
}

std::vector<const PoolTx*> TxPool::InOrder() const
{
    std::vector<const PoolTx*> order;
    order.reserve(m_txs.Size());
    for (const PoolChunk* chunk : Chunks()) {
        for (const PoolTx* tx : chunk->Txs()) order.push_back(tx);
    }
    return order;
}

} // namespace ibd
