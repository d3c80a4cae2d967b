// PrivateRelay: transactions of this node's users that are sent without the pool, each over
// connections of its own (-privatebroadcast), so that their origin stays unknown. Owned by
// PeerManager. Rules, numbers and log lines are Bitcoin Core's.
//
// Such a connection reveals nothing about the node, and data from its peer is ignored: no other
// topic handles it (PeerSet::TopicsOf). After the handshake the peer gets one inv; then its getdata
// is answered, and a ping follows: the pong proves that the transaction was received. The
// transaction stays here until a peer of another kind relays it, or until the pool would refuse it.
//
// Memory: that of the PrivateQueue, and once more its transactions while they are tested.
#pragma once

#include "net/peer/keepalive.h"
#include "net/peer/private_queue.h"

namespace ibd {

class PrivateRelay final : public PeerTopic {
public:
    static constexpr size_t kSends = 3;                       //!< connections for a new transaction
    static constexpr int64_t kMaxLifetime = 3 * 60 * kSecond; //!< of a connection

    PrivateRelay(PeerSet& peers, Keepalive& keepalive) : m_peers(peers), m_keepalive(keepalive) {}

    void Connected(Peer& peer) override;
    void Established(Peer& peer) override;
    void Disconnected(Peer& peer) override;
    void StartRound() override;

    /** A message of a private peer after its verack. */
    void HandlePrivate(Peer& peer, ReceivedMessage& message);
    /** Called when a peer has sent this transaction. */
    void TakeBack(const Peer& peer, const Transaction& tx);
    /** The verdict on the transaction that was offered to the pool as a test. */
    void TakeVerdict(const TxAnswer& answer);

    // For users.

    PrivateAddition Send(const TransactionRef& tx);
    std::vector<PrivateTx> All() const { return m_queue.All(); }
    /** Returns the transactions that are not sent any more: all with that txid or wtxid. */
    std::vector<TransactionRef> Abort(const Uint256& id);
    /** Looks for transactions that are due again; they are sent once the pool would take them. */
    void FindStale();

    // For connecting to peers.

    /** Number of connections still to be made. */
    size_t Missing() const { return m_missing; }
    /** Whether a peer was reached through Tor, which shows that the proxy leads to Tor. */
    bool TorWorks() const { return m_tor_works; }

private:
    void SendInv(Peer& peer);
    void HandleGetData(Peer& peer, ByteSpan payload);
    void Drop(Peer& peer, const std::string& why);
    void DropSlow();
    void OfferNext();
    void NeedFewer(size_t confirmed);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    Keepalive& m_keepalive;
    PrivateQueue m_queue;
    size_t m_missing = 0;
    bool m_tor_works = false;
    std::deque<TransactionRef> m_stale; //!< to be judged
    bool m_is_judged = false;           //!< the pool is testing the first one
};

} // namespace ibd
