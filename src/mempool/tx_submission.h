// TxSubmission: the only way into the pool, for users, peers, disconnected blocks, and the pool's
// file. Owned by the node; any thread, without locks. A transaction is checked in three steps:
// inputs and policy under the chain's state lock and the pool's mutex; scripts without any lock, so
// that no thread waits for scripts of peers; then, under both locks again, the staged change is
// applied if tip, pool and fee deltas are unchanged, and is staged again if they are not.
#pragma once

#include "mempool/tx_acceptance.h"

#include <functional>

namespace ibd {

/** Access to the chain's coins, implemented by the chain's owner. */
class TipCoins {
public:
    virtual ~TipCoins() = default;
    using Use = std::function<Result<>(const CoinsAtTip&)>;
    /** Calls the function with the coins at the tip, which do not change during the call. */
    virtual Result<> With(const Use& use) const = 0;
};

/** The verdict on one transaction. */
struct TxVerdict {
    RuleResult violation;
    Amount fee = 0;                            //!< set without a violation
    Amount modified_fee = 0;                   //!< set without a violation
    int64_t vsize = 0;                         //!< set without a violation
    /** Transactions that it replaced or would replace; set without a violation. */
    std::vector<TransactionRef> replaced = {};
};

/** The verdict on several transactions; those not reached have none. */
struct PackageVerdict {
    RuleResult violation; //!< violation of the package as a whole
    std::map<Wtxid, TxVerdict> txs;
};

struct SubmitOptions {
    Arrival arrival;
    Amount most_fee = 0;     //!< a higher fee is refused (`too_expensive`); 0: no limit
    bool keep_limits = true; //!< false: the caller does (KeepLimits)
};

struct SubmitVerdict {
    TxVerdict verdict;
    bool too_expensive = false;
};

/** The result for a transaction of a submitted package. */
struct PackageTx {
    enum class Kind {
        kAccepted,
        kInPool,       //!< was there before
        kOtherWitness, //!< the pool has another one with the same txid: `other`
        kRefused,
    };
    Kind kind = Kind::kRefused;
    RuleResult violation = {};        //!< kRefused
    Amount fee = 0;                   //!< kAccepted, kInPool
    int64_t vsize = 0;                //!< kAccepted, kInPool
    Amount rate = 0;                  //!< kAccepted: fee rate of `together`, satoshi per 1,000
                                      //!< vbytes
    std::vector<Wtxid> together = {}; //!< kAccepted: the transactions judged together with it, by
                                      //!< one rate
    Wtxid other = {};
};

struct PackageSubmission {
    RuleResult violation; //!< of the package; nothing: all are in the pool
    std::map<Wtxid, PackageTx> txs;
    std::map<Txid, TransactionRef> replaced; //!< transactions that it replaced
};

class TxSubmission {
public:
    /** All arguments outlive it. */
    TxSubmission(const TxAcceptance& rules, TxPool& pool, const TipCoins& coins)
        : m_rules(rules), m_pool(pool), m_coins(coins)
    {
    }

    // Errors are of the disk.

    /** The verdict on the transaction, without adding it. `now`: seconds since 1970. */
    Result<TxVerdict> Test(const TransactionRef& tx, int64_t now) const;
    /** The same for several transactions; later ones may spend earlier ones. */
    Result<PackageVerdict> TestPackage(Package package, int64_t now) const;
    /** Adds the transaction if it is acceptable, and keeps the pool within its limits. */
    Result<SubmitVerdict> Submit(const TransactionRef& tx, const SubmitOptions& options) const;
    /** For a child with its parents: adds the acceptable ones, each alone if it pays enough,
     *  otherwise together. */
    Result<PackageSubmission> SubmitPackage(Package package, const Arrival& arrival) const;

private:
    /** A transaction checked against one state of chain and pool. */
    struct Attempt {
        CheckedTx checked;
        RuleResult violation;
        std::unique_ptr<PoolChange> change;
        BlockHash tip;
        std::vector<TransactionRef> replaced = {};

        TxVerdict Verdict() const;
    };

    /** The coins at the tip, outside a reorganisation. */
    Result<> With(const TipCoins::Use& use) const;
    Result<> Prepare(const TransactionRef& tx, const CoinsAtTip& at, const Arrival& arrival,
                     Attempt& out) const IBD_REQUIRES(m_pool.mutex);
    Result<Attempt> Check(const TransactionRef& tx, const Arrival& arrival) const;
    Result<> Finish(const TransactionRef& tx, const CoinsAtTip& at, const SubmitOptions& options,
                    Attempt& attempt, bool& scripts_hold) const IBD_REQUIRES(m_pool.mutex);
    /** For a package that is judged by its total fee. */
    struct Joint {
        std::vector<CheckedTx> checked;
        PackageFault fault;
        std::unique_ptr<PoolChange> change;
        BlockHash tip;
        std::vector<TransactionRef> replaced = {};
    };
    class PackageRun;

    Result<> PrepareJoint(Package package, const CoinsAtTip& at, const Arrival& arrival,
                          Joint& out) const IBD_REQUIRES(m_pool.mutex);
    Result<Joint> SubmitJoint(Package package, const Arrival& arrival) const;
    void KeepLimits(int64_t now) const IBD_REQUIRES(m_pool.mutex);

    const TxAcceptance& m_rules;
    TxPool& m_pool;
    const TipCoins& m_coins;
};

} // namespace ibd
