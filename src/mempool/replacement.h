// Replacement: the rules by which transactions take the place of others that spend the same coins.
// Rules and reject reasons are Core's. Under the pool's mutex.
#pragma once

#include "mempool/package_policy.h"
#include "mempool/pool_change.h"

namespace ibd {

/** Most clusters with direct conflicts. */
inline constexpr size_t kMaxReplacedClusters = 100;

/** A transaction that would replace others. */
struct Replacement {
    const Candidate& candidate;
    Amount fee = 0;              //!< modified
    const PoolTxSet& conflicts;  //!< direct ones
    bool evicts_sibling = false; //!< one of them is no conflict but a sibling (BIP431)
};

/** The ancestors of the transaction are not in conflict with it. */
RuleResult CheckAncestors(const Candidate& candidate, const PoolTxSet& conflicts);

/** Checks that it conflicts with few enough clusters, and pays more than the replaced transactions,
 *  by enough for its own size. Stages the removals. */
RuleResult StageReplaced(const Replacement& replacement, const PoolLimits& limits,
                         PoolChange& change);

/** After all was staged: the pool's diagram becomes better. */
RuleResult CheckImproves(PoolChange& change);

} // namespace ibd
