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
    : m_limits(limits), m_txs(0, HashHasher(key)), m_by_wtxid(0, HashHasher(key)),
      m_spenders(0, OutPointHasher(key)), m_rolling_fee(limits.incremental_fee)
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
    const auto it = m_txs.find(id);
    return it == m_txs.end() ? nullptr : it->second.get();
}

const PoolTx* TxPool::FindWitness(const Wtxid& id) const
{
    const auto it = m_by_wtxid.find(id);
    return it == m_by_wtxid.end() ? nullptr : it->second;
}

const PoolTx* TxPool::Spender(const OutPoint& outpoint) const
{
    const auto it = m_spenders.find(outpoint);
    return it == m_spenders.end() ? nullptr : it->second;
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
    for (const InputView& input : (*added.tx)->inputs) {
        CHECK(m_spenders.emplace(input.Prevout(), &added).second);
    }
    CHECK(m_by_wtxid.emplace(added.tx->WitnessId(), &added).second);
    if (added.own) m_unbroadcast.insert(&added);
    added.by_time = m_by_time.emplace(added.time, &added);
    m_vsize += added.vsize;
    m_fees += added.fee;
    added.memory = static_cast<int64_t>(PoolMemoryOf(added.tx->View()));
    m_tx_memory += added.memory;
    ++m_updates;
    CHECK(m_txs.emplace(added.Id(), std::move(tx)).second);
    m_slots.Grow(m_txs.size());
    for (PoolEvents* listener : m_listeners) listener->TxAdded(added, added.sequence);
}

void TxPool::Erase(const PoolTx& tx, RemovalReason reason)
{
    if (reason != RemovalReason::kBlock) ++m_sequence;
    for (PoolEvents* listener : m_listeners) listener->TxRemoved(tx, reason, m_sequence - 1);
    for (const PoolTx* parent : tx.parents) parent->children.erase(&tx);
    for (const PoolTx* child : tx.children) child->parents.erase(&tx);
    for (const InputView& input : (*tx.tx)->inputs) m_spenders.erase(input.Prevout());
    m_by_wtxid.erase(tx.tx->WitnessId());
    if (tx.own) m_unbroadcast.erase(&tx);
    m_by_time.erase(tx.by_time);
    m_vsize -= tx.vsize;
    m_fees -= tx.fee;
    m_tx_memory -= tx.memory;
    ++m_updates;
    m_txs.erase(m_txs.find(tx.Id()));
    m_slots.Shrink(m_txs.size());
}

void TxPool::BlockConnected(int32_t height, int64_t now)
{
    m_rolling_fee.BlockConnected(now);
    for (PoolEvents* listener : m_listeners) listener->BlockConfirmed(height);
}

void TxPool::RecordDelta(const Txid& id, Amount delta)
{
    ++m_updates;
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
    const auto it = m_txs.find(id);
    if (it == m_txs.end()) return;
    it->second->own = !done;
    if (done) {
        m_unbroadcast.erase(it->second.get());
    } else {
        m_unbroadcast.insert(it->second.get());
    }
}

std::vector<const PoolTx*> TxPool::InOrder() const
{
    std::vector<const PoolTx*> order;
    order.reserve(m_txs.size());
    for (const PoolChunk* chunk : Chunks()) {
        for (const PoolTx* tx : chunk->Txs()) order.push_back(tx);
    }
    return order;
}

} // namespace ibd
