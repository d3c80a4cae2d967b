// Linearize: the order in which dependent transactions are worth mining. Pure; any thread.
//
// An order is cut into chunks: each is the set with the best fee rate among the remaining
// transactions, including all its ancestors, so the rates fall from chunk to chunk. The optimal
// order is the one whose diagram (feerate.h) is above all others. It is found by splitting the
// cluster. Let r be the rate of a set of transactions. The subset, closed under ancestors, whose
// fee exceeds r times its size by the largest amount, is given by a minimum cut between
// transactions that pay more than r and those that pay less. If there is such an excess, that
// subset comes first and both parts are split in turn; if not, no order of the set begins with a
// rate above r, and the set is divided into the smallest parts that pay exactly r. These parts are
// the same for every minimum cut, so the chunks depend on the cluster alone and not on its history.
//
// The cut is a flow: each transaction above r pays for its ancestors below r. A flow is found by
// augmenting paths over bit masks. A cluster of n transactions needs fewer than 2n flows.
#pragma once

#include "mempool/cluster_graph.h"

namespace ibd {

/** Steps of the search in one cluster. Beyond it the best order found so far is used. Clusters of
 *  64 from a search for the hardest needed 5,000, a tenth of a millisecond. */
inline constexpr uint64_t kLinearizeBudget = 100'000;

struct LinearChunk {
    TxMask txs = 0;
    FeeSize sum;
};

struct Linearization {
    std::vector<uint8_t> order; //!< parents before children; chunk by chunk
    std::vector<LinearChunk> chunks;
    bool optimal = true;
};

/** At most 64 transactions. Not worse than AncestorOrder() even if the budget does not suffice. */
Linearization Linearize(const ClusterGraph& cluster, uint64_t budget = kLinearizeBudget);

/** Repeatedly the transaction whose remaining ancestors, with itself, pay the best rate. */
std::vector<uint8_t> AncestorOrder(const ClusterGraph& cluster);
/** The chunks of an order: a transaction joins those before it while it pays more than they do. */
std::vector<LinearChunk> ChunksOf(const ClusterGraph& cluster, std::span<const uint8_t> order);
/** An order that is at least as good as both given ones. */
std::vector<uint8_t> MergeOrders(const ClusterGraph& cluster, std::span<const uint8_t> a,
                                 std::span<const uint8_t> b);

} // namespace ibd
