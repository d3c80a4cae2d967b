// See tx_pool.h.
#include "mempool/tx_pool.h"

#include "consensus/limits.h"

#include <algorithm>

namespace ibd {

namespace {

/** All transactions reachable by `next` from `seeds`, including these. */
template <typename Next>
PoolTxSet Reach(const PoolTxSet& seeds, Next next)
{
    PoolTxSet found = seeds;
    std::vector<const PoolTx*> todo(seeds.begin(), seeds.end());
    while (!todo.empty()) {
        const PoolTx* const tx = todo.back();
        todo.pop_back();
        next(*tx, [&](const PoolTxSet& others) {
            for (const PoolTx* other : others) {
                if (found.insert(other).second) todo.push_back(other);
            }
        });
    }
    return found;
}

PoolTxSet Without(PoolTxSet set, const PoolTx& tx)
{
    set.erase(&tx);
    return set;
}

/** Counts the bytes twice, for the transaction and its views, and the nodes of maps and sets. */
size_t MemoryOf(const PoolTx& tx)
{
    constexpr size_t kMapNode = 96;
    const TxView& view = tx.tx->View();
    return sizeof(PoolTx) + sizeof(Transaction) + 4 * kMapNode + view.raw.size() +
           view.inputs.size() * (sizeof(InputView) + 2 * kMapNode) +
           view.outputs.size() * sizeof(OutputView);
}

} // namespace

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

PoolTxSet TxPool::ParentsOf(const TxView& tx) const
{
    PoolTxSet parents;
    for (const InputView& input : tx.inputs) {
        if (const PoolTx* parent = Find(input.Prevout().txid)) parents.insert(parent);
    }
    return parents;
}

PoolTxSet TxPool::Cluster(const PoolTxSet& seeds)
{
    return Reach(seeds, [](const PoolTx& tx, auto visit) {
        visit(tx.parents);
        visit(tx.children);
    });
}

PoolTxSet TxPool::Ancestors(const PoolTx& tx)
{
    return Without(Reach({&tx}, [](const PoolTx& at, auto visit) { visit(at.parents); }), tx);
}

PoolTxSet TxPool::Descendants(const PoolTx& tx)
{
    return Without(Reach({&tx}, [](const PoolTx& at, auto visit) { visit(at.children); }), tx);
}

bool TxPool::Fits(size_t count, int64_t weight) const
{
    return count <= m_limits.cluster_count &&
           weight <= m_limits.cluster_vsize * kWitnessScaleFactor;
}

void TxPool::Add(PoolTx tx)
{
    tx.sequence = m_sequence++;
    tx.parents = ParentsOf(tx.tx->View());
    tx.children.clear();
    auto owned = std::make_unique<const PoolTx>(std::move(tx));
    const PoolTx* const added = owned.get();
    for (const PoolTx* parent : added->parents) parent->children.insert(added);
    for (const InputView& input : (*added->tx)->inputs) {
        CHECK(m_spenders.emplace(input.Prevout(), added).second);
    }
    CHECK(m_by_wtxid.emplace(added->tx->WitnessId(), added).second);
    m_vsize += added->vsize;
    m_fees += added->fee;
    m_memory += MemoryOf(*added);
    CHECK(m_txs.emplace(added->Id(), std::move(owned)).second);
}

/** Removes a single transaction: its children lose this parent. */
void TxPool::Remove(const PoolTx& tx)
{
    for (const PoolTx* parent : tx.parents) parent->children.erase(&tx);
    for (const PoolTx* child : tx.children) child->parents.erase(&tx);
    for (const InputView& input : (*tx.tx)->inputs) m_spenders.erase(input.Prevout());
    m_by_wtxid.erase(tx.tx->WitnessId());
    m_vsize -= tx.vsize;
    m_fees -= tx.fee;
    m_memory -= MemoryOf(tx);
    ++m_sequence;
    const Txid id = tx.Id();
    m_txs.erase(id);
}

size_t TxPool::RemoveWithDescendants(const Txid& id)
{
    const PoolTx* const tx = Find(id);
    if (!tx) return 0;
    const PoolTxSet descendants = Descendants(*tx);
    for (const PoolTx* descendant : descendants) Remove(*descendant);
    Remove(*tx);
    return descendants.size() + 1;
}

void TxPool::Confirm(const BlockView& block)
{
    if (m_txs.empty()) return;
    for (const TxView& tx : block.Txs()) {
        if (const PoolTx* const confirmed = Find(tx.txid)) Remove(*confirmed);
        for (const InputView& input : tx.inputs) {
            if (const PoolTx* const other = Spender(input.Prevout())) {
                RemoveWithDescendants(Txid(other->Id()));
            }
        }
    }
}

size_t TxPool::Expire(int64_t time)
{
    std::vector<Txid> old;
    for (const auto& [id, tx] : m_txs) {
        if (tx->time < time) old.push_back(id);
    }
    size_t removed = 0;
    for (const Txid& id : old) removed += RemoveWithDescendants(id);
    return removed;
}

std::vector<const PoolTx*> TxPool::InOrder() const
{
    std::vector<const PoolTx*> order;
    for (const auto& [id, tx] : m_txs) order.push_back(tx.get());
    std::sort(order.begin(), order.end(),
              [](const PoolTx* a, const PoolTx* b) { return a->sequence < b->sequence; });
    return order;
}

std::vector<PoolTx> TxPool::TakeAll()
{
    std::vector<PoolTx> all;
    for (const PoolTx* tx : InOrder()) {
        all.push_back(*tx);
        Remove(*tx);
        all.back().parents.clear();
        all.back().children.clear();
    }
    return all;
}

} // namespace ibd
