// What this node asks of transactions that are offered together, and of those that hang on others
// which no block holds: form of a package, dust that must be spent at once, BIP431 (TRUC). Rules
// and reject reasons are Core's. Pure but for the pool that is read; any thread.
#pragma once

#include "mempool/policy.h"
#include "mempool/tx_pool.h"

#include <optional>

namespace ibd {

inline constexpr size_t kMaxPackageCount = 25;

using Package = std::span<const TransactionRef>;

/** At most 25 transactions of 404,000 weight, each once, parents first, none spending the same. */
RuleResult CheckPackageForm(Package package);

/** A transaction that is checked with others of its package and those of the pool. */
struct Candidate {
    TransactionRef tx;
    int64_t vsize = 0;      //!< VirtualSize
    int64_t weight = 0;     //!< AdjustedWeight
    PoolTxSet parents = {}; //!< in the pool
};

/** BIP431 as far as the pool goes. */
RuleResult CheckTruc(const Candidate& candidate);
/** BIP431 in a package of more than one; all of it passed CheckTruc. */
RuleResult CheckPackageTruc(const Candidate& candidate, Package package);

/** The first transaction that spends an output of a parent, in package or pool, and not that
 *  parent's dust; nothing: all do. */
struct UnspentDust {
    Wtxid tx;
    RuleViolation violation;
};
std::optional<UnspentDust> CheckEphemeralDust(Package package, const TxPool& pool, Amount dust_fee)
    IBD_REQUIRES(pool.mutex);

} // namespace ibd
