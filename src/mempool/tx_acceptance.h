// TxAcceptance: decides whether transactions may enter the pool, and adds them. Owned by the node;
// any thread, under the pool's mutex, with the chain's coins held (so that the tip stays). Order of
// the checks and reject reasons are Core's; rules and scripts are those of consensus/ and script/.
// A transaction that conflicts with the pool is refused: there is no replacement yet. Bounds: a
// package of 25; weight, signature operations and cluster limits bound the cost of one transaction,
// if standardness is required.
#pragma once

#include "chain/header_node.h"
#include "consensus/params.h"
#include "mempool/package_policy.h"
#include "script/verification_cache.h"
#include "storage/coins_reader.h"

namespace ibd {

/** The tip, and the coins at it. */
struct CoinsAtTip {
    const HeaderNode& tip;
    const CoinsReader& coins;
};

/** The verdict on one transaction. */
struct TxVerdict {
    RuleResult violation;
    Amount fee = 0;    //!< set without a violation
    int64_t vsize = 0; //!< set without a violation
};

/** The verdict on several transactions; those not reached have none. */
struct PackageVerdict {
    RuleResult violation; //!< of the package as a whole
    std::map<Wtxid, TxVerdict> txs;
};

struct CheckedTx; // tx_acceptance.cpp

class TxAcceptance {
public:
    /** All arguments outlive it; without caches every signature is verified. */
    TxAcceptance(const ConsensusParams& params, const PolicyOptions& policy,
                 VerificationCaches* caches)
        : m_params(params), m_policy(policy), m_caches(caches)
    {
    }

    const PolicyOptions& Policy() const { return m_policy; }

    /** The verdict on the transaction, without adding it. Errors are of the disk. */
    Result<TxVerdict> Test(const TransactionRef& tx, const CoinsAtTip& at, const TxPool& pool) const
        IBD_REQUIRES(pool.mutex);
    /** The same for several transactions, of which later ones may spend earlier ones. */
    Result<PackageVerdict> TestPackage(Package package, const CoinsAtTip& at,
                                       const TxPool& pool) const IBD_REQUIRES(pool.mutex);
    /** Adds the transaction to the pool if it is acceptable; the pool may exceed its size limit
     *  then. `now`: seconds since 1970. */
    Result<TxVerdict> Accept(const TransactionRef& tx, const CoinsAtTip& at, TxPool& pool,
                             int64_t now) const IBD_REQUIRES(pool.mutex);
    /** Adds a transaction again that was in a block or in the pool before the tip changed, without
     *  limits against peers. Returns whether it is in the pool now. */
    Result<bool> Restore(PoolTx tx, const CoinsAtTip& at, TxPool& pool) const
        IBD_REQUIRES(pool.mutex);

private:
    /** The origin of a transaction. */
    enum class Origin {
        kAlone,
        kPackage,
        kChain, //!< a disconnected block, or the pool itself
    };
    class Check;

    Result<RuleResult> CheckOne(Check& check, const TransactionRef& tx, CheckedTx& out) const;

    const ConsensusParams& m_params;
    const PolicyOptions m_policy;
    VerificationCaches* const m_caches;
};

} // namespace ibd
