// PeerPool: the peers' interface to the pool of transactions. Owned by net, implemented outside;
// called on the thread of the peers. A look-up holds the pool's mutex for microseconds.
// Transactions from peers are offered, and checked on another thread: no script runs here.
#pragma once

#include "consensus/rule_result.h"
#include "net/wire/compact_block.h"

#include <chrono>
#include <compare>
#include <optional>
#include <span>
#include <vector>

namespace ibd {

/** A transaction as a peer names it: by its txid, or by its wtxid (BIP339). */
struct TxKey {
    Uint256 hash;
    bool is_wtxid = false;
    auto operator<=>(const TxKey&) const = default;
};

/** An offer of a peer to the pool: one transaction, or a parent and its child, which are judged
 *  together. */
struct TxOffer {
    PeerId peer = -1;
    std::vector<TransactionRef> txs;
    bool is_orphan = false; //!< was kept until its parents came
    bool is_test = false;   //!< only a test: the transaction is not added

    size_t Bytes() const
    {
        size_t bytes = 0;
        for (const TransactionRef& tx : txs) bytes += tx->View().raw.size();
        return bytes;
    }
};

/** The pool's verdict on an offer. */
struct TxAnswer {
    struct Verdict {
        RuleResult violation; //!< nothing: it is in the pool
        std::vector<TransactionRef> replaced = {};
        size_t pool_size = 0;  //!< transactions in the pool after it was added
        size_t pool_bytes = 0; //!< memory, likewise
    };
    TxOffer offer;
    RuleResult violation; //!< of a package as a whole
    /** For each offered transaction; nothing: the check did not reach it. */
    std::vector<std::optional<Verdict>> txs;
};

class PeerPool : public TransactionSource {
public:
    struct Entry {
        TransactionRef tx;
        Amount fee = 0;
        int64_t vsize = 0;
        uint64_t sequence = 0; //!< sequence of the pool before it was added
        /** Fee rate of the chunk that is mined together with it, for comparison: it does not rise
         *  in mining order. */
        double mining_rate = 0;
        bool has_parents = false; //!< in the pool
    };

    virtual bool Has(const TxKey& key) const = 0;
    virtual std::optional<Entry> Find(const TxKey& key) const = 0;
    virtual std::vector<Entry> All() const = 0;
    /** The pool's transactions with these wtxids, in mining order: parents first. */
    virtual std::vector<Entry> InMiningOrder(std::span<const Wtxid> ids) const = 0;
    /** Entry::mining_rate of each; nothing: it is not in the pool. */
    virtual std::vector<std::optional<double>> MiningRates(std::span<const Wtxid> ids) const = 0;
    /** Its ancestors in the pool, in mining order. */
    virtual std::vector<Entry> AncestorsOf(const Wtxid& id) const = 0;
    /** Number of changes so far. */
    virtual uint64_t Sequence() const = 0;

    // Rates are satoshi for 1,000 virtual bytes.

    /** The lowest rate that a full pool accepts; 0: it is not full. */
    virtual Amount FullRate() const = 0;
    virtual Amount MinRelayRate() const = 0;    //!< -minrelaytxfee
    virtual Amount IncrementalRate() const = 0; //!< -incrementalrelayfee

    /** Transactions of this node's users that no peer has fetched yet. */
    virtual std::vector<Entry> Unbroadcast() const = 0;
    virtual void SetBroadcast(const Txid& id) = 0;

    /** Whether an offer of this size can wait now. */
    virtual bool HasRoom(size_t bytes) const = 0;
    /** Queues an offer for checking; requires HasRoom(). At most one offer of each peer may wait.
     */
    virtual void Offer(TxOffer offer) = 0;
    /** No further check starts until ResumeChecks(), or for kMostPause. */
    virtual void PauseChecks() = 0;
    virtual void ResumeChecks() = 0;
    static constexpr std::chrono::milliseconds kMostPause{100};
    /** The verdicts since the last call, in the order of the checks. */
    virtual std::vector<TxAnswer> TakeAnswers() = 0;
};

} // namespace ibd
