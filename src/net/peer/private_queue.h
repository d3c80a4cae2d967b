// PrivateQueue: transactions of this node's users that are sent without the pool
// (-privatebroadcast), and the peers to which they were sent. Owned by PrivateRelay; thread of the
// peers. Rules and numbers are Bitcoin Core's. Memory: kMaxTxs transactions, and for each the last
// kMaxSends sends; an id for each connected peer.
#pragma once

#include "net/peer/header_sync.h"
#include "primitives/transaction.h"

#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace ibd {

/** A transaction that was sent to a peer. Times are seconds since 1970. */
struct PrivateSend {
    PeerId peer = -1;
    Endpoint address;
    int64_t sent = 0;
    std::optional<int64_t> received; //!< the peer answered a ping that followed the transaction
};

struct PrivateTx {
    TransactionRef tx;
    int64_t added = 0; //!< seconds since 1970
    std::deque<PrivateSend> sends;
};

enum class PrivateAddition { kAdded, kThere, kFull };

class PrivateQueue {
public:
    static constexpr size_t kMaxTxs = 10'000;
    static constexpr size_t kMaxSends = 1'000; //!< remembered ones of a transaction
    // A transaction is sent again after this many seconds:
    static constexpr int64_t kFirstWait = 5 * 60; //!< since it was added, while no peer has
                                                  //!< confirmed it
    static constexpr int64_t kWait = 60;          //!< since the last confirmation

    // Transactions are distinguished by wtxid. Times are seconds since 1970.

    PrivateAddition Add(const TransactionRef& tx, int64_t now);
    /** Removes it. Returns the number of peers that confirmed it; nothing: it was not in the queue.
     */
    std::optional<size_t> Remove(const Wtxid& id);
    /** Chooses the transaction with the fewest sends for the peer. Null: there is none. */
    TransactionRef Pick(PeerId peer, const Endpoint& address, int64_t now);
    /** The transaction that Pick() chose for the peer; null: none, or it was removed. */
    TransactionRef TxOf(PeerId peer) const;
    void Confirm(PeerId peer, int64_t now);
    /** The peer disconnected. Returns whether it had confirmed a transaction. */
    bool Forget(PeerId peer);
    bool Has(const Wtxid& id) const { return m_txs.contains(id); }
    bool IsEmpty() const { return m_txs.empty(); }
    /** Transactions that are due again. */
    std::vector<TransactionRef> Stale(int64_t now) const;
    /** In order of arrival. */
    std::vector<PrivateTx> All() const;

private:
    struct Entry {
        PrivateTx tx;
        uint64_t number = 0; //!< in the order in which they came
        size_t picked = 0;
        size_t confirmed = 0;
        int64_t last_picked = 0;
        int64_t last_confirmed = 0;
    };
    /** The transaction chosen for a connected peer. */
    struct Given {
        Wtxid id;
        bool confirmed = false;
    };
    static bool IsBefore(const Entry& one, const Entry& other);

    std::map<Wtxid, Entry> m_txs;
    std::map<PeerId, Given> m_given;
    uint64_t m_next = 0;
};

} // namespace ibd
