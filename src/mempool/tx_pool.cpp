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

PoolTxSet TxPool::SpendersOf(const Txid& id) const
{
    PoolTxSet spenders;
    for (auto it = m_spenders.lower_bound({id, 0}); it != m_spenders.end(); ++it) {
        if (it->first.txid != id) break;
        spenders.insert(it->second);
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
    CHECK(m_by_time.insert(&added).second);
    m_vsize += added.vsize;
    m_fees += added.fee;
    m_tx_memory += static_cast<int64_t>(PoolMemoryOf(added.tx->View()));
    ++m_updates;
    CHECK(m_txs.emplace(added.Id(), std::move(tx)).second);
    m_peak = std::max(m_peak, m_txs.size());
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
    m_by_time.erase(&tx);
    m_vsize -= tx.vsize;
    m_fees -= tx.fee;
    m_tx_memory -= static_cast<int64_t>(PoolMemoryOf(tx.tx->View()));
    ++m_updates;
    const Txid id = tx.Id();
    m_txs.erase(id);
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
    if (const auto it = m_txs.find(id); it != m_txs.end()) it->second->own = !done;
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
