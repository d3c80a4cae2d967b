// PoolChange: a change of the pool that is staged, judged, and then applied or dropped.
// Replacements, packages, eviction, blocks and reorganisations are all PoolChanges. Made, used and
// destroyed under the pool's mutex. It may be kept while the mutex is released, but used again only
// if the pool did not change meanwhile (IsCurrent). The cost depends on the clusters that it
// touches, not on the size of the pool.
//
//   stage: Add, Remove...   judge: Fits, CompareWithPool   then: Apply
#pragma once

#include "mempool/tx_pool.h"

#include <unordered_set>

namespace ibd {

class PoolChange {
public:
    explicit PoolChange(TxPool& pool) IBD_NO_THREAD_CHECK : m_pool(pool), m_updates(pool.Updates())
    {
    }
    PoolChange(const PoolChange&) = delete;
    PoolChange& operator=(const PoolChange&) = delete;

    // The caller holds the pool's mutex, which clang cannot follow into a member.

    /** Adds a transaction that does not conflict with the remaining ones. Its fee delta is the
     *  pool's for its txid. If one of its parents is removed by the change, the change can be
     *  judged but not applied. */
    const PoolTx& Add(PoolTx tx) IBD_NO_THREAD_CHECK;
    /** Whether pool and fee deltas are still those with which the change was staged. */
    bool IsCurrent() const IBD_NO_THREAD_CHECK;
    /** Withdraws an added transaction; no other added transaction may spend it. */
    void Withdraw(const PoolTx& added) { Unstage({&added}); }
    /** Reserves memory for about this number of removals. */
    void ExpectRemovals(size_t count);
    /** Removes a single transaction of the pool. False: it was removed already. */
    bool Remove(const PoolTx& tx, RemovalReason reason);
    void RemoveWithDescendants(const PoolTx& tx, RemovalReason reason);
    /** Sets the delta immediately; its effect is judged and applied with the other changes. */
    void SetDelta(const PoolTx& tx, Amount delta);

    using Removals = std::vector<std::pair<const PoolTx*, RemovalReason>>;
    /** In the order in which they were staged. */
    const Removals& Removed() const { return m_removals; }
    /** By txid, as Core lists them. */
    std::vector<TransactionRef> RemovedById() const;
    bool Removes(const PoolTx& tx) const { return m_removed.contains(&tx); }
    /** An added transaction; null: none with this id. */
    const PoolTx* FindAdded(const Txid& id) const;
    /** The same in the pool as it is after the change. */
    const PoolTx* Find(const Txid& id) const IBD_NO_THREAD_CHECK;

    /** Whether all clusters will be within their limits. */
    bool Fits();
    /** Removes the lowest chunks of clusters that would be too large: transactions are kept in the
     *  order of their chunks' rates if they fit and their parents are kept. */
    void DropExcess(RemovalReason reason);
    /** Compares the diagrams of the new and of the replaced clusters. Fits() must hold. */
    std::partial_ordering CompareWithPool();
    /** Fits() must hold. The change is empty then. */
    void Apply() IBD_NO_THREAD_CHECK;
    /** The same for a change that was made while the gate is closed, without the pool's mutex. It
     *  takes the mutex for about `step` transactions at a time; a cluster is changed in one step.
     */
    void ApplyInSteps(size_t step = kStep) IBD_EXCLUDES(m_pool.mutex);
    static constexpr size_t kStep = 500;
    /** Called between two steps, to let other threads run: a thread that releases a mutex and
     *  immediately takes it again can starve the waiting threads. */
    static void LetOthersIn();

private:
    /** Transactions that will be connected. */
    struct Component {
        std::vector<const PoolTx*> txs;
        int64_t weight = 0;
    };
    class Trimmer;
    /** A part of the change that shares no cluster with others. */
    struct Part {
        std::vector<const PoolCluster*> before;
        Removals removed;
        std::vector<std::unique_ptr<PoolTx>> added; //!< parents first
        std::vector<std::unique_ptr<PoolCluster>> after;
    };
    class Splitter;

    /** Prepares everything that Apply() needs. */
    void Finish();
    void ApplyPart(Part part) IBD_REQUIRES(m_pool.mutex);
    /** Drops everything that is staged. */
    void Clear();
    void Touch(const PoolTx& tx);
    /** Finds the components, unless nothing was staged since the last call. Returns whether all are
     *  within the limits. With `bounded` it stops at the first component that is not, before it has
     *  all its transactions. */
    bool Settle(bool bounded) IBD_NO_THREAD_CHECK;
    bool FitsIn(const Component& component) const;
    void MakeClusters();
    Component Connected(const PoolTx& start, bool bounded) const;
    /** Calls the function until it returns false; returns whether it never did. Added transactions
     *  come first. */
    template <typename Visit>
    bool ForEachRemaining(Visit visit) const;
    std::unique_ptr<PoolCluster> ClusterOf(const Component& component) const;
    /** Unlinks added transactions; transactions that spend them are removed too. */
    void Unstage(const std::set<const PoolTx*>& txs);
    template <typename Visit>
    void ForEachParent(const PoolTx& tx, Visit visit) const;
    template <typename Visit>
    void ForEachChild(const PoolTx& tx, Visit visit) const;

    TxPool& m_pool;
    const uint64_t m_updates; //!< of the pool at the construction
    std::vector<std::unique_ptr<PoolTx>> m_added;
    std::map<Txid, PoolTx*> m_added_ids;
    Removals m_removals;
    std::unordered_set<const PoolTx*> m_removed; //!< the same transactions
    // Links of pool transactions to added ones.
    std::map<const PoolTx*, PoolTxSet> m_new_children;
    std::map<const PoolTx*, PoolTxSet> m_new_parents;
    // The clusters that it replaces.
    std::vector<const PoolCluster*> m_before;
    std::unordered_set<const PoolCluster*> m_touched;
    bool m_settled = false;
    uint64_t m_visit = 0; //!< of the walk that found the components
    std::vector<Component> m_components;
    std::vector<std::unique_ptr<PoolCluster>> m_clusters; //!< of m_components; empty: not made yet
};

} // namespace ibd
