// See pool_change.h.
#include "mempool/pool_change.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace ibd {

namespace {

/** Prefetch distance, in clusters. */
constexpr size_t kPrefetched = 8;

/** By falling rate; a diagram. */
void SortByRate(std::vector<FeeSize>& chunks)
{
    std::sort(chunks.begin(), chunks.end(),
              [](const FeeSize& a, const FeeSize& b) { return CompareRates(a, b) > 0; });
}

const PoolTxSet* LinksOf(const std::map<const PoolTx*, PoolTxSet>& links, const PoolTx& tx)
{
    const auto it = links.find(&tx);
    return it == links.end() ? nullptr : &it->second;
}

} // namespace

const PoolTx& PoolChange::Add(PoolTx tx)
{
    auto owned = std::make_unique<PoolTx>(std::move(tx));
    PoolTx& added = *owned;
    added.delta = m_pool.DeltaOf(added.Id());
    added.parents.clear();
    for (const InputView& input : (*added.tx)->inputs) {
        const Txid parent_id = input.Prevout().txid;
        if (const auto it = m_added_ids.find(parent_id); it != m_added_ids.end()) {
            added.parents.insert(it->second);
            it->second->children.insert(&added);
        } else if (const PoolTx* const parent = Find(parent_id)) {
            added.parents.insert(parent);
            m_new_children[parent].insert(&added);
            Touch(*parent);
        }
    }
    // A transaction that returns from a block may have children in the pool.
    added.children = m_pool.SpendersOf(added.Id(), (*added.tx)->outputs.size());
    std::erase_if(added.children, [&](const PoolTx* child) { return Removes(*child); });
    for (const PoolTx* child : added.children) {
        m_new_parents[child].insert(&added);
        Touch(*child);
    }
    CHECK(m_added_ids.emplace(added.Id(), &added).second);
    m_added.push_back(std::move(owned));
    m_settled = false;
    return added;
}

void PoolChange::Touch(const PoolTx& tx)
{
    m_settled = false;
    if (m_touched.insert(tx.cluster).second) m_before.push_back(tx.cluster);
}

void PoolChange::ExpectRemovals(size_t count)
{
    m_removals.reserve(count);
    m_removed.reserve(count);
    m_before.reserve(count);
    m_touched.reserve(count);
}

bool PoolChange::Remove(const PoolTx& tx, RemovalReason reason)
{
    if (!m_removed.insert(&tx).second) return false;
    m_removals.emplace_back(&tx, reason);
    Touch(tx);
    return true;
}

/** Does not search beyond removed transactions: a block confirms parents before children. */
void PoolChange::RemoveWithDescendants(const PoolTx& tx, RemovalReason reason)
{
    std::vector<const PoolTx*> todo{&tx};
    while (!todo.empty()) {
        const PoolTx& next = *todo.back();
        todo.pop_back();
        if (!Remove(next, reason)) continue;
        todo.insert(todo.end(), next.children.begin(), next.children.end());
    }
}

std::vector<TransactionRef> PoolChange::RemovedById() const
{
    std::vector<TransactionRef> txs;
    for (const PoolTx* tx : PoolTxSet(m_removed.begin(), m_removed.end())) txs.push_back(tx->tx);
    return txs;
}

/** A transaction outside the pool gets a delta without an update of the pool. */
bool PoolChange::IsCurrent() const
{
    return m_updates == m_pool.Updates() &&
           std::all_of(m_added.begin(), m_added.end(), [this](const auto& tx) IBD_NO_THREAD_CHECK {
               return tx->delta == m_pool.DeltaOf(tx->Id());
           });
}

void PoolChange::SetDelta(const PoolTx& tx, Amount delta)
{
    Touch(tx);
    tx.delta = delta;
}

const PoolTx* PoolChange::FindAdded(const Txid& id) const
{
    const auto it = m_added_ids.find(id);
    return it == m_added_ids.end() ? nullptr : it->second;
}

const PoolTx* PoolChange::Find(const Txid& id) const
{
    if (const PoolTx* const added = FindAdded(id)) return added;
    const PoolTx* const tx = m_pool.Find(id);
    return tx && !Removes(*tx) ? tx : nullptr;
}

template <typename Visit>
void PoolChange::ForEachParent(const PoolTx& tx, Visit visit) const
{
    for (const PoolTx* parent : tx.parents) {
        if (!Removes(*parent)) visit(*parent);
    }
    const PoolTxSet* const others = LinksOf(m_new_parents, tx);
    if (!others) return;
    for (const PoolTx* parent : *others) visit(*parent);
}

template <typename Visit>
void PoolChange::ForEachChild(const PoolTx& tx, Visit visit) const
{
    for (const PoolTx* child : tx.children) {
        if (!Removes(*child)) visit(*child);
    }
    const PoolTxSet* const others = LinksOf(m_new_children, tx);
    if (!others) return;
    for (const PoolTx* child : *others) visit(*child);
}

PoolChange::Component PoolChange::Connected(const PoolTx& start, bool bounded) const
{
    Component out;
    const auto is_beyond = [&] { return bounded && !FitsIn(out); };
    const auto take = [&](const PoolTx& tx) {
        if (tx.visit == m_visit || is_beyond()) return;
        tx.visit = m_visit;
        out.txs.push_back(&tx);
        out.weight += tx.weight;
    };
    take(start);
    for (size_t next = 0; next < out.txs.size() && !is_beyond(); ++next) {
        const PoolTx& tx = *out.txs[next];
        ForEachParent(tx, take);
        ForEachChild(tx, take);
    }
    return out;
}

bool PoolChange::FitsIn(const Component& component) const
{
    return m_pool.Fits(component.txs.size(), component.weight);
}

template <typename Visit>
bool PoolChange::ForEachRemaining(Visit visit) const
{
    for (const auto& tx : m_added) {
        if (!visit(*tx)) return false;
    }
    for (size_t i = 0; i < m_before.size(); ++i) {
        if (i + kPrefetched < m_before.size()) {
            __builtin_prefetch(m_before[i + kPrefetched]->txs.data());
        }
        for (const PoolTx* tx : m_before[i]->txs) {
            if (!Removes(*tx) && !visit(*tx)) return false;
        }
    }
    return true;
}

bool PoolChange::Settle(bool bounded)
{
    const auto fits = [this](const Component& component) { return FitsIn(component); };
    if (m_settled) return std::all_of(m_components.begin(), m_components.end(), fits);
    m_components.clear();
    m_clusters.clear();
    m_visit = m_pool.NextVisit();
    bool all_fit = true;
    m_settled = ForEachRemaining([&](const PoolTx& tx) {
        if (tx.visit == m_visit) return true;
        m_components.push_back(Connected(tx, bounded));
        all_fit &= fits(m_components.back());
        return all_fit || !bounded;
    });
    return all_fit;
}

/** A transaction may name thousands of full clusters, and is refused without a fee: so the walk
 *  ends with the first transaction too many. */
bool PoolChange::Fits() { return Settle(/*bounded=*/true); }

std::unique_ptr<PoolCluster> PoolChange::ClusterOf(const Component& component) const
{
    std::vector<const PoolTx*> txs = component.txs;
    std::sort(txs.begin(), txs.end(), LessTxid()); // so that the order does not depend on history
    ClusterGraph graph;
    for (const PoolTx* tx : txs) {
        tx->index = static_cast<uint32_t>(graph.txs.size());
        graph.ancestors.push_back(TxMask{1} << tx->index);
        graph.txs.push_back(tx->Rate());
    }
    for (bool changed = txs.size() > 1; changed;) {
        changed = false;
        for (const PoolTx* tx : txs) {
            TxMask& mask = graph.ancestors[tx->index];
            const TxMask before = mask;
            ForEachParent(*tx,
                          [&](const PoolTx& parent) { mask |= graph.ancestors[parent.index]; });
            changed |= mask != before;
        }
    }
    return MakeCluster(txs, graph);
}

void PoolChange::MakeClusters()
{
    CHECK(Fits());
    if (!m_clusters.empty()) return;
    m_clusters.reserve(m_components.size());
    for (const Component& component : m_components) m_clusters.push_back(ClusterOf(component));
}

std::partial_ordering PoolChange::CompareWithPool()
{
    MakeClusters();
    std::vector<FeeSize> before, after;
    for (const PoolCluster* cluster : m_before) {
        for (const PoolChunk& chunk : cluster->chunks) before.push_back(chunk.sum);
    }
    for (const auto& cluster : m_clusters) {
        for (const PoolChunk& chunk : cluster->chunks) after.push_back(chunk.sum);
    }
    SortByRate(before);
    SortByRate(after);
    return CompareDiagrams(after, before);
}

void PoolChange::Unstage(const std::set<const PoolTx*>& txs)
{
    for (const PoolTx* tx : txs) {
        for (const PoolTx* parent : tx->parents) {
            if (FindAdded(parent->Id()) == parent) {
                parent->children.erase(tx);
            } else {
                m_new_children[parent].erase(tx);
            }
        }
        for (const PoolTx* child : tx->children) {
            if (FindAdded(child->Id()) == child) {
                child->parents.erase(tx);
            } else {
                m_new_parents[child].erase(tx);
            }
        }
    }
    for (const PoolTx* tx : txs) m_added_ids.erase(tx->Id());
    std::erase_if(m_added, [&](const auto& tx) { return txs.contains(tx.get()); });
    m_settled = false;
}

/** Finds the transactions to remove from a component that is too large. Each cluster of the pool is
 *  taken in its mining order, so that no chunk is split before all better ones are included. */
class PoolChange::Trimmer {
public:
    Trimmer(const PoolChange& change, const Component& component)
        : m_change(change), m_txs(component.txs), m_nodes(m_txs.size())
    {
        for (size_t i = 0; i < m_txs.size(); ++i) m_txs[i]->index = static_cast<uint32_t>(i);
        for (size_t i = 0; i < m_txs.size(); ++i) {
            Node& node = m_nodes[i];
            node.group = i;
            node.count = 1;
            node.weight = m_txs[i]->weight;
            node.rate = m_txs[i]->Rate();
            change.ForEachParent(*m_txs[i], [&](const PoolTx& parent) { Need(i, parent.index); });
        }
        LinkClusters();
    }

    std::vector<const PoolTx*> Run()
    {
        const auto worse = [&](size_t a, size_t b) {
            const auto order = CompareRates(m_nodes[a].rate, m_nodes[b].rate);
            return order != 0 ? order < 0 : m_txs[b]->Id() < m_txs[a]->Id();
        };
        std::priority_queue<size_t, std::vector<size_t>, decltype(worse)> ready(worse);
        for (size_t i = 0; i < m_nodes.size(); ++i) {
            if (m_nodes[i].missing == 0) ready.push(i);
        }
        std::vector<const PoolTx*> out;
        std::vector<bool> taken(m_nodes.size());
        while (!ready.empty()) {
            const size_t at = ready.top();
            ready.pop();
            if (!Join(at)) continue; // nor do transactions that spend it
            taken[at] = true;
            for (const size_t next : m_nodes[at].needed_by) {
                if (--m_nodes[next].missing == 0) ready.push(next);
            }
        }
        for (size_t i = 0; i < m_nodes.size(); ++i) {
            if (!taken[i]) out.push_back(m_txs[i]);
        }
        return out;
    }

private:
    struct Node {
        FeeSize rate; //!< of its chunk before the change
        size_t missing = 0;
        std::vector<size_t> needs;
        std::vector<size_t> needed_by;
        // Union-find of the transactions taken.
        size_t group = 0;
        size_t count = 0;
        int64_t weight = 0;
    };

    void Need(size_t at, size_t other)
    {
        m_nodes[at].needs.push_back(other);
        m_nodes[other].needed_by.push_back(at);
        ++m_nodes[at].missing;
    }

    void LinkClusters()
    {
        std::set<const PoolCluster*> clusters;
        for (const PoolTx* tx : m_txs) {
            if (tx->cluster) clusters.insert(tx->cluster);
        }
        for (const PoolCluster* cluster : clusters) {
            const PoolTx* last = nullptr;
            for (const PoolChunk& chunk : cluster->chunks) {
                for (const PoolTx* tx : chunk.Txs()) {
                    if (m_change.Removes(*tx)) continue;
                    m_nodes[tx->index].rate = chunk.sum;
                    if (last) Need(tx->index, last->index);
                    last = tx;
                }
            }
        }
    }

    size_t GroupOf(size_t at)
    {
        while (m_nodes[at].group != at) {
            m_nodes[at].group = m_nodes[m_nodes[at].group].group;
            at = m_nodes[at].group;
        }
        return at;
    }

    /** Whether it fits together with all that it connects; if so, joins them. */
    bool Join(size_t at)
    {
        std::set<size_t> groups{at};
        for (const size_t other : m_nodes[at].needs) groups.insert(GroupOf(other));
        size_t count = 0;
        int64_t weight = 0;
        for (const size_t group : groups) {
            count += m_nodes[group].count;
            weight += m_nodes[group].weight;
        }
        if (!m_change.m_pool.Fits(count, weight)) return false;
        for (const size_t group : groups) m_nodes[group].group = at;
        m_nodes[at].count = count;
        m_nodes[at].weight = weight;
        return true;
    }

    const PoolChange& m_change;
    const std::vector<const PoolTx*>& m_txs;
    std::vector<Node> m_nodes;
};

void PoolChange::DropExcess(RemovalReason reason)
{
    Settle(/*bounded=*/false);
    std::set<const PoolTx*> unstaged;
    for (const Component& component : m_components) {
        if (m_pool.Fits(component.txs.size(), component.weight)) continue;
        for (const PoolTx* tx : Trimmer(*this, component).Run()) {
            if (FindAdded(tx->Id()) == tx) {
                unstaged.insert(tx);
            } else {
                Remove(*tx, reason);
            }
        }
    }
    Unstage(unstaged);
}

} // namespace ibd
