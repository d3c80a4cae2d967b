// TxAcceptance: decides whether transactions may enter the pool. Owned by the node; any thread. All
// checks but scripts are made under the pool's mutex, with the chain's coins held (so that the tip
// stays), and stage a PoolChange; scripts are run without any lock. TxSubmission combines both.
// Order of the checks and reject reasons are Core's; rules and scripts are those of consensus/ and
// script/. Bounds: a package of 25; weight, signature operations and cluster limits bound the cost
// of one transaction, if standardness is required.
#pragma once

#include "chain/header_node.h"
#include "consensus/params.h"
#include "consensus/rule_verdict.h"
#include "mempool/package_policy.h"
#include "mempool/pool_change.h"
#include "script/sighash.h"
#include "script/verification_cache.h"
#include "script/verify_flags.h"
#include "storage/coins_reader.h"

#include <functional>

namespace ibd {

/** The tip, and the coins at it. */
struct CoinsAtTip {
    const HeaderNode& tip;
    const CoinsReader& coins;
    bool is_current = false; //!< the chain is synced: no newer block is known or expected
};

/** The circumstances of a transaction that is to be added. */
struct Arrival {
    int64_t now = 0;      //!< seconds since 1970
    int64_t time = 0;     //!< time of its entry: now, or from a file
    bool own = false;     //!< submitted by a user of this node
    bool in_package = false; //!< set by TxSubmission: it is part of a package
    Amount most_rate = 0; //!< highest accepted rate, satoshi per 1,000 virtual bytes; 0: no limit
};

/** A transaction with the results of its checks. */
struct CheckedTx {
    Candidate candidate;
    Amount fee = 0;
    Amount modified_fee = 0; //!< fee including prioritisetransaction
    int64_t sigop_cost = 0;
    std::vector<Coin> coins; //!< the spent coins
    SequenceLocks locks;
    int32_t locks_height = 0;
    bool spends_coinbase = false;
    PoolTxSet conflicts; //!< transactions of the pool that it replaces, without their descendants
    bool evicts_sibling = false;
    ScriptFlags block_flags = 0; //!< of the next block
};

/** The violation of a package, or of one of its transactions; empty: none. */
struct PackageFault {
    RuleResult violation;
    std::optional<Wtxid> tx = {}; //!< index of the transaction; nothing: the package as a whole
    /** The violation to report for the package if one of its transactions is at fault. */
    const char* as_whole = "transaction failed";
};

/** Runs scripts with the policy's flags, then with those of blocks, under which the cache keeps the
 *  result for the block that confirms the transaction. Without caches every signature is verified.
 */
RuleResult RunScripts(const CheckedTx& checked, VerificationCaches* caches);

class TxAcceptance {
public:
    using ScriptRun = std::function<RuleResult(const CheckedTx&, VerificationCaches*)>;

    /** All arguments outlive it. */
    TxAcceptance(const ConsensusParams& params, const PolicyOptions& policy,
                 VerificationCaches* caches, ScriptRun run_scripts = RunScripts)
        : m_params(params), m_policy(policy), m_caches(caches),
          m_run_scripts(std::move(run_scripts))
    {
    }

    const PolicyOptions& Policy() const { return m_policy; }

    /** The origin of a transaction. */
    enum class Origin {
        kAlone,
        kPackage,  //!< a package that is only tested: it must not replace transactions
        kTogether, //!< a package judged by its total fee; a parent and its child may replace others
        kChain,    //!< a disconnected block: limits against abuse by peers do not apply
    };

    /** Checks everything but scripts, and stages the transaction without a violation. Errors are of
     *  the disk. */
    RuleVerdict Check(const TransactionRef& tx, const CoinsAtTip& at, const Arrival& arrival,
                      Origin origin, TxPool& pool, PoolChange& change, CheckedTx& out) const
        IBD_REQUIRES(pool.mutex);
    /** Checks everything but scripts of a well-formed package, and stages it. */
    Result<PackageFault> CheckPackage(Package package, const CoinsAtTip& at, const Arrival& arrival,
                                      Origin origin, TxPool& pool, PoolChange& change,
                                      std::vector<CheckedTx>& out) const IBD_REQUIRES(pool.mutex);
    /** Call it without locks. */
    RuleResult CheckScripts(const CheckedTx& checked) const
    {
        return m_run_scripts(checked, m_caches);
    }

private:
    class Request;

    const ConsensusParams& m_params;
    const PolicyOptions m_policy;
    VerificationCaches* const m_caches;
    const ScriptRun m_run_scripts;
};

} // namespace ibd
