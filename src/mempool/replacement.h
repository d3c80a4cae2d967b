// Replacement: the rules by which transactions replace others that spend the same coins (RBF).
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
    bool evicts_sibling = false; //!< one of them is not a conflict but a sibling (BIP431)
};

/** Checks that no ancestor of the transaction conflicts with it. */
RuleResult CheckAncestors(const Candidate& candidate, const PoolTxSet& conflicts);

/** Checks that it conflicts with at most kMaxReplacedClusters clusters, and that its fee exceeds
 *  the fees of the replaced transactions by enough for its own size. Stages the removals. */
RuleResult StageReplaced(const Replacement& replacement, const PoolLimits& limits,
                         PoolChange& change);

/** Call it after everything was staged: checks that the feerate diagram of the pool improves. */
RuleResult CheckImproves(PoolChange& change);

} // namespace ibd
