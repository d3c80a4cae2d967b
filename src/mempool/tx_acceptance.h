// TxAcceptance: decides whether transactions may come into the pool, and puts them there. Owned by
// the node; any thread, under the pool's mutex, with the chain's coins held (so that the tip
// stays). Order of the checks and reject reasons are Core's; rules and scripts are those of
// consensus/ and script/. Where a transaction of the pool spends the same, the newcomer is refused:
// there is no replacement yet. Bounds: a package of 25; what one transaction costs is bounded by
// weight, signature operations and the limits of a cluster, where standardness is asked for.
#pragma once

#include "chain/header_node.h"
#include "consensus/params.h"
#include "mempool/package_policy.h"
#include "script/verification_cache.h"
#include "storage/coins_reader.h"

namespace ibd {

/** The tip, and the coins after it. */
struct CoinsAtTip {
    const HeaderNode& tip;
    const CoinsReader& coins;
};

/** About one transaction. */
struct TxVerdict {
    RuleResult violation;
    Amount fee = 0;    //!< known if there is no violation
    int64_t vsize = 0; //!< likewise
};

/** About several; those that were not come to have no verdict. */
struct PackageVerdict {
    RuleResult violation; //!< of the package as a whole
    std::map<Wtxid, TxVerdict> txs;
};

struct CheckedTx; // tx_acceptance.cpp

class TxAcceptance {
public:
    /** All outlive it; without caches every signature is verified. */
    TxAcceptance(const ConsensusParams& params, const PolicyOptions& policy,
                 VerificationCaches* caches)
        : m_params(params), m_policy(policy), m_caches(caches)
    {
    }

    const PolicyOptions& Policy() const { return m_policy; }

    /** What would be said to the transaction. Errors are of the disk. */
    Result<TxVerdict> Test(const TransactionRef& tx, const CoinsAtTip& at, const TxPool& pool) const
        IBD_REQUIRES(pool.mutex);
    /** The same of several, of which later ones may spend earlier ones. */
    Result<PackageVerdict> TestPackage(Package package, const CoinsAtTip& at,
                                       const TxPool& pool) const IBD_REQUIRES(pool.mutex);
    /** Puts the transaction into the pool if it may come in; there may be too little room for it
     *  then. `now`: seconds since 1970. */
    Result<TxVerdict> Accept(const TransactionRef& tx, const CoinsAtTip& at, TxPool& pool,
                             int64_t now) const IBD_REQUIRES(pool.mutex);
    /** Puts one back that was in a block or in the pool before the tip changed: limits that guard
     *  against strangers are left out. Whether it is there now. */
    Result<bool> Restore(PoolTx tx, const CoinsAtTip& at, TxPool& pool) const
        IBD_REQUIRES(pool.mutex);

private:
    /** Where a transaction comes from. */
    enum class Origin {
        kAlone,
        kPackage,
        kChain, //!< a block that is none of the chain any more, or the pool itself
    };
    class Check;

    Result<RuleResult> CheckOne(Check& check, const TransactionRef& tx, CheckedTx& out) const;

    const ConsensusParams& m_params;
    const PolicyOptions m_policy;
    VerificationCaches* const m_caches;
};

} // namespace ibd
