// Policy for packages, and for transactions with unconfirmed parents: form of a package, dust that
// must be spent at once, BIP431 (TRUC). Rules and reject reasons are Core's. Pure, but read the
// pool; any thread.
#pragma once

#include "mempool/policy.h"
#include "mempool/tx_pool.h"

#include <optional>

namespace ibd {

inline constexpr size_t kMaxPackageCount = 25;

using Package = std::span<const TransactionRef>;

/** At most 25 different transactions, 404,000 weight together, parents first, without conflicts. */
RuleResult CheckPackageForm(Package package);

/** A transaction being checked with others of its package and the pool. */
struct Candidate {
    TransactionRef tx;
    int64_t vsize = 0;      //!< VirtualSize
    int64_t weight = 0;     //!< AdjustedWeight
    PoolTxSet parents = {}; //!< parents in the pool
};

/** `sibling`: a child of the same parent whose removal would keep the rule. */
struct TrucVerdict {
    RuleResult violation;
    const PoolTx* sibling = nullptr;
};
/** BIP431 with respect to the pool, of which `conflicts` are replaced. */
TrucVerdict CheckTruc(const Candidate& candidate, const PoolTxSet& conflicts);
/** BIP431 in a package of several transactions that all passed CheckTruc. */
RuleResult CheckPackageTruc(const Candidate& candidate, Package package);

/** The first transaction that spends an output of a parent, in package or pool, but not that
 *  parent's dust; nothing: none does. */
struct UnspentDust {
    Wtxid tx;
    RuleViolation violation;
};
std::optional<UnspentDust> CheckEphemeralDust(Package package, const TxPool& pool, Amount dust_fee)
    IBD_REQUIRES(pool.mutex);

} // namespace ibd
