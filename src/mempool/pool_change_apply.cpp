// Applying a staged change; see pool_change.h.
#include "mempool/pool_change.h"

#include <chrono>
#include <numeric>
#include <thread>

namespace ibd {

namespace {

/** A small part of the time of a step, and enough for a waiting thread to take the mutex. */
constexpr std::chrono::microseconds kPause{100};

/** Prefetch distance, in removals. */
constexpr size_t kPrefetched = 8;

} // namespace

/** Distributes a change over steps. A transaction of a cluster before and of one after the change
 *  joins them (union-find), and joined clusters go into one step. */
class PoolChange::Splitter {
public:
    Splitter(PoolChange& change, size_t step) : m_change(change), m_step(step)
    {
        for (const PoolCluster* cluster : change.m_before) {
            m_groups.emplace(cluster, m_groups.size());
        }
        m_joined.resize(m_groups.size() + change.m_components.size());
        std::iota(m_joined.begin(), m_joined.end(), size_t{0});
        for (size_t i = 0; i < change.m_components.size(); ++i) {
            for (const PoolTx* tx : change.m_components[i].txs) {
                if (tx->cluster) {
                    m_joined[Root(GroupOf(i))] = Root(m_groups.at(tx->cluster));
                } else {
                    tx->index = static_cast<uint32_t>(GroupOf(i));
                }
            }
        }
    }

    std::vector<Part> Run()
    {
        std::vector<Part> steps(PlanSteps());
        for (const PoolCluster* cluster : m_change.m_before) {
            StepOf(steps, m_groups.at(cluster)).before.push_back(cluster);
        }
        for (const auto& [tx, reason] : m_change.m_removals) {
            StepOf(steps, m_groups.at(tx->cluster)).removed.emplace_back(tx, reason);
        }
        for (auto& tx : m_change.m_added) StepOf(steps, tx->index).added.push_back(std::move(tx));
        for (size_t i = 0; i < m_change.m_clusters.size(); ++i) {
            StepOf(steps, GroupOf(i)).after.push_back(std::move(m_change.m_clusters[i]));
        }
        return steps;
    }

private:
    size_t GroupOf(size_t component) const { return m_groups.size() + component; }
    size_t Root(size_t group)
    {
        while (m_joined[group] != group) {
            m_joined[group] = m_joined[m_joined[group]];
            group = m_joined[group];
        }
        return group;
    }
    Part& StepOf(std::vector<Part>& steps, size_t group) { return steps[m_steps[Root(group)]]; }

    /** Fills one step after the other. Returns their number. */
    size_t PlanSteps()
    {
        std::vector<size_t> sizes(m_joined.size());
        for (size_t group = 0; group < m_joined.size(); ++group) ++sizes[Root(group)];
        for (const auto& [tx, reason] : m_change.m_removals) {
            ++sizes[Root(m_groups.at(tx->cluster))];
        }
        for (const auto& tx : m_change.m_added) ++sizes[Root(tx->index)];
        m_steps.resize(m_joined.size());
        size_t step = 0, filled = 0;
        for (size_t group = 0; group < m_joined.size(); ++group) {
            if (filled >= m_step) {
                ++step;
                filled = 0;
            }
            m_steps[group] = step;
            filled += sizes[group];
        }
        return step + 1;
    }

    PoolChange& m_change;
    const size_t m_step;                                     //!< transactions and clusters
    std::unordered_map<const PoolCluster*, size_t> m_groups; //!< clusters of the pool; then come
                                                             //!< the components
    std::vector<size_t> m_joined;
    std::vector<size_t> m_steps; //!< of each root
};

void PoolChange::ApplyPart(Part part)
{
    ClusterIndex& clusters = m_pool.MutableClusters();
    for (size_t i = 0; i < part.before.size(); ++i) {
        const size_t later = i + kPrefetched, soon = i + kPrefetched / 2;
        if (later < part.before.size()) clusters.PrefetchChunks(*part.before[later]);
        if (soon < part.before.size()) clusters.PrefetchNodes(*part.before[soon]);
        clusters.Remove(*part.before[i]);
    }
    for (size_t i = 0; i < part.removed.size(); ++i) {
        const size_t later = i + kPrefetched;
        if (later < part.removed.size()) m_pool.PrefetchErase(*part.removed[later].first);
        m_pool.Erase(*part.removed[i].first, part.removed[i].second);
    }
    for (auto& tx : part.added) m_pool.Insert(std::move(tx));
    for (auto& cluster : part.after) clusters.Insert(std::move(cluster));
}

void PoolChange::LetOthersIn() { std::this_thread::sleep_for(kPause); }

void PoolChange::Finish()
{
    MakeClusters();
    for (const auto& tx : m_added) {
        std::erase_if(tx->children, [&](const PoolTx* child) { return Removes(*child); });
    }
}

void PoolChange::Clear()
{
    m_added.clear();
    m_added_ids.clear();
    m_removals.clear();
    m_removed.clear();
    m_new_children.clear();
    m_new_parents.clear();
    m_before.clear();
    m_touched.clear();
    m_clusters.clear();
    m_settled = false;
}

void PoolChange::Apply()
{
    Finish();
    Part all;
    all.before = std::move(m_before);
    all.removed = std::move(m_removals);
    all.added = std::move(m_added);
    all.after = std::move(m_clusters);
    ApplyPart(std::move(all));
    Clear();
}

void PoolChange::ApplyInSteps(size_t step)
{
    CHECK(m_pool.gate.IsClosed());
    Finish();
    for (Part& part : Splitter(*this, step).Run()) {
        {
            const Lock lock(m_pool.mutex);
            ApplyPart(std::move(part));
        }
        LetOthersIn();
    }
    Clear();
}

} // namespace ibd
