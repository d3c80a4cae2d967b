// TxFetcher: decides which transactions to request from which peers, and handles the verdicts:
// further requests, orphans, and filters of transactions that need not be requested again. Owned by
// TxRelay, one thread. Rules, figures and log lines are Bitcoin Core's.
//
// Memory: kMaxAnnouncements for each peer, an OrphanPool, and three filters (rolling_filter.h).
#pragma once

#include "net/peer/orphan_pool.h"
#include "net/peer/peer_set.h"
#include "net/peer/rolling_filter.h"
#include "net/peer/tx_requests.h"

namespace ibd {

class TxFetcher {
public:
    /** Bound for a peer without permission `relay`. */
    static constexpr size_t kMaxAnnouncements = 5'000;
    static constexpr size_t kMaxInFlight = 100; //!< requests; above it further ones are delayed
    static constexpr int64_t kNonPreferredDelay = 2 * kSecond;
    static constexpr int64_t kTxidDelay = 2 * kSecond; //!< while there are peers with wtxid relay
    static constexpr int64_t kOverloadedDelay = 2 * kSecond;
    static constexpr int64_t kRequestTime = 60 * kSecond;
    static constexpr size_t kRememberedRejects = 120'000;
    static constexpr size_t kRememberedConfirmed = 48'000;

    explicit TxFetcher(PeerSet& peers);

    void Established(const Peer& peer);
    void Disconnected(const Peer& peer);

    /** Records the announcement by a peer. Returns whether the transaction is known already. */
    bool Announced(const Peer& peer, const TxKey& key);
    /** The hashes to request now; the caller must request them. `busy`: whether that hash is being
     *  checked. */
    std::vector<TxKey> ToRequest(const Peer& peer, const std::function<bool(const Uint256&)>& busy);
    void NotFound(const Peer& peer, const InventoryList& list);

    /** A parent and its child. */
    using Package = std::vector<TransactionRef>;
    struct Arrival {
        bool check = false; //!< the transaction should be checked
        Package package;    //!< or this package; empty: none
    };
    Arrival Arrived(PeerId peer, const TransactionRef& tx);
    /** It is in the pool. */
    void Accepted(const Transaction& tx);
    struct Refusal {
        bool keep_extra = false; //!< keep it for compact blocks: a block may contain it
                                 //!< nevertheless
        std::vector<Txid> missing_parents = {};
        Package package = {}; //!< a package that may be accepted instead; empty: none
    };
    /** `again`: it was refused before, alone or as an orphan. */
    Refusal Refused(PeerId peer, const TransactionRef& tx, const RuleViolation& why, bool again);
    void PackageRefused(const Package& package);

    bool HasOrphanFor(const Peer& peer) const { return m_orphans.HasReady(peer.Id()); }
    /** The next orphan to be tried in the turn of the peer; null: none. */
    TransactionRef NextOrphan(const Peer& peer) { return m_orphans.TakeReady(peer.Id()); }
    const OrphanPool& Orphans() const { return m_orphans; }
    const TxRequests& Requests() const { return m_requests; }

    // The chain.

    /** Call it when refused transactions may have become valid. */
    void TipChanged();
    /** `witness_ids`: of the block's transactions. */
    void BlockConnected(const BlockView& block, std::span<const Wtxid> witness_ids);
    void BlockDisconnected() { m_confirmed.Clear(); }

private:
    SipKey RandomKey() const { return {m_peers.Random64(), m_peers.Random64()}; }
    const PeerPool& Pool() const { return *m_peers.At().pool; }
    bool IsKnown(const TxKey& key, bool with_reconsiderable) const;
    int64_t DelayOf(const Peer& peer, bool by_txid) const;
    void RemoveKnown(std::vector<Txid>& parents) const;
    /** Whether the peer may announce this many more. */
    bool HasRoom(const Peer& peer, size_t announcements) const;
    bool AnnouncedOrphan(const Peer& peer, const TxKey& key);
    bool AskForParents(const Peer& peer, const std::vector<Txid>& parents, const Wtxid& orphan);
    void KeepOrphan(PeerId peer, const TransactionRef& tx, Refusal& out);
    bool HasRefusedParents(const std::vector<Txid>& parents) const;
    void FindPackage(PeerId peer, const TransactionRef& parent, Refusal& out) const;
    Package PackageOf(PeerId peer, const TransactionRef& parent) const;
    void Forget(const Transaction& tx);

    PeerSet& m_peers;
    Logger& m_log{m_peers.At().log};
    TxRequests m_requests;
    OrphanPool m_orphans;
    RollingFilter m_rejects;        //!< refused, alone or in a package
    RollingFilter m_reconsiderable; //!< fee too low alone; also packages
    RollingFilter m_confirmed;
    size_t m_wtxid_peers = 0;
};

} // namespace ibd
