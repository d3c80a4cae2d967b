// MinCut: the first part of a set of transactions in their optimal order, by a maximum flow; see
// linearize.h. Used by Linearize() alone. 70 kB: keep one for many cuts.
#pragma once

#include "mempool/cluster_graph.h"

#include <array>

namespace ibd {

class MinCut {
public:
    /** `budget`: search steps that may be used; lowered by the number of steps used. */
    MinCut(const ClusterGraph& cluster, uint64_t& budget) : m_cluster(cluster), m_budget(budget) {}

    /** False: the budget is used up. */
    bool Find(TxMask set);

    // After Find(set).

    /** The smallest subset, closed under ancestors, with the largest fee above the set's rate. 0:
     *  no subset exceeds that rate. */
    TxMask Better() const { return m_better; }
    /** If no subset is better: the smallest parts with the set's rate, in mining order. */
    std::vector<TxMask> Parts() const;

private:
    void SetWeights();
    /** Uses the direct paths from sources, which carry most of the flow. */
    void PushDirectly(size_t source);
    /** Sends the remaining flow of a source; if that is impossible, adds its closure to m_better.
     */
    bool Push(size_t source);
    size_t FindPath(size_t source, TxMask& seen);
    void Augment(size_t source, size_t sink);
    void MoveFlow(size_t source, size_t sink, Int128 amount);

    const ClusterGraph& m_cluster;
    uint64_t& m_budget;
    TxMask m_set = 0;
    TxMask m_sources = 0; //!< pay above the rate of m_set
    TxMask m_sinks = 0;   //!< pay below it
    TxMask m_better = 0;
    std::array<Int128, kMaxClusterTxs> m_left{}; //!< of a source: to pay; of a sink: to be paid
    // Set only for the sources and sinks of m_set.
    std::array<TxMask, kMaxClusterTxs> m_payers{}; //!< of a sink: the sources with flow to it
    std::array<std::array<Int128, kMaxClusterTxs>, kMaxClusterTxs> m_flow; //!< [source][sink]
    std::array<uint8_t, kMaxClusterTxs> m_reached_from{}; //!< on the path being searched
};

} // namespace ibd
