// ClusterGraph: the fees, sizes and dependencies of a cluster's transactions. Pure; any thread.
#pragma once

#include "mempool/feerate.h"

#include <cstdint>
#include <vector>

namespace ibd {

/** Most transactions of a cluster: the bits of a TxMask. */
inline constexpr size_t kMaxClusterTxs = 64;

/** A set of the transactions of a cluster, by index. */
using TxMask = uint64_t;

/** Transactions with their dependencies. Equal clusters get equal orders if they are indexed in the
 *  same way. */
struct ClusterGraph {
    std::vector<FeeSize> txs;
    std::vector<TxMask> ancestors; //!< for each transaction, with itself
};

} // namespace ibd
