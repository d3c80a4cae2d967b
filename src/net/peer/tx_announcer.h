// TxAnnouncer: announcements of transactions to peers, and answers to their requests for them.
// Owned by PeerManager. Rules, figures and log lines are Bitcoin Core's.
//
// Announcements trickle: they are sent to a peer at random times, a few at a time and in mining
// order, so that the peer cannot tell when and from where a transaction arrived. All inbound peers
// of one network and one of our addresses share these times, so many connections reveal no more
// than one. A peer may request transactions that were in the pool before its last announcements,
// and those of the last block.
//
// Memory: for each peer a RollingFilter of kKnown ids, a Bloom filter of the peer (BIP37), and the
// ids that wait for announcement (WaitingTxs): up to about twice as many as the pool has.
#pragma once

#include "net/peer/bloom_filters.h"
#include "net/peer/fee_filter_rounder.h"
#include "net/peer/recent_block.h"
#include "net/peer/rolling_filter.h"
#include "net/peer/waiting_txs.h"

namespace ibd {

class TxAnnouncer final : public PeerTopic {
public:
    // Mean intervals.
    static constexpr int64_t kInboundInterval = 5 * kSecond;
    static constexpr int64_t kOutboundInterval = 2 * kSecond;
    static constexpr int64_t kFeeFilterInterval = 10 * 60 * kSecond;
    /** A fee rate that changed considerably is sent after at most this time. */
    static constexpr int64_t kFeeFilterSoon = 5 * 60 * kSecond;
    /** Announcements at a time: fourteen for each second of kInboundInterval, and more if many
     * wait.
     */
    static constexpr size_t kAtOnce = 70;
    static constexpr size_t kMostAtOnce = 1'000;
    static constexpr size_t kKnown = 50'000;

    TxAnnouncer(PeerSet& peers, BloomFilters& bloom, RecentBlock& recent);

    void Negotiate(Peer& peer) override;
    void StartRound() override;
    void Maintain(Peer& peer) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

    /** Announces it to all peers that do not know it. */
    void Announce(const Transaction& tx);
    /** The peer knows the transaction of this id. */
    void NoteKnown(Peer& peer, const Uint256& id);
    void SetFeeFilter(Peer& peer, Amount rate);
    /** Announces the whole pool to the peer (BIP35). */
    void RequestPool(Peer& peer);
    /** A requested transaction, as it is sent to the peer. Nothing: the peer must not get it, or it
     *  is not there. */
    std::optional<Bytes> Serialized(const Peer& peer, const InventoryItem& item) const;
    /** Announces users' transactions that no peer has fetched to all peers that do not know them.
     */
    void AnnounceAgain();

private:
    struct State {
        std::optional<RollingFilter> known;
        WaitingTxs waiting;
        int64_t next_send = 0;      //!< 0: not established yet, nothing waits
        uint64_t last_sequence = 1; //!< of the pool at the last announcements
        bool wants_pool = false;
        Amount fee_filter = 0;      //!< of the peer
        Amount sent_fee_filter = 0; //!< to the peer
        int64_t next_fee_filter = 0;
    };
    PeerPool* Pool() const { return m_at.pool; }
    int64_t RandomDelay(int64_t mean) const;
    int64_t NextSend(const Peer& peer);
    TxKey KeyOf(const Peer& peer, const Transaction& tx) const;
    bool Wants(Peer& peer, const PeerPool::Entry& entry);
    void SendTrickle(Peer& peer);
    void Push(Peer& peer, InvMessage& message, const Transaction& tx);
    void AppendPool(Peer& peer, InvMessage& message);
    void AppendWaiting(Peer& peer, InvMessage& message);
    void MaintainFeeFilter(Peer& peer);
    void SendFeeFilter(Peer& peer, Amount rate);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    BloomFilters& m_bloom;
    RecentBlock& m_recent;
    const PeerStates<State> m_states{m_peers};
    /** Key: network and our address. Bounded by the number of addresses that we listen on. */
    std::map<std::pair<AddressNetwork, Endpoint>, int64_t> m_next_to_inbound;
    FeeFilterRounder m_rounder;
    Amount m_full_rate = 0; //!< of the pool, at the start of the round
};

} // namespace ibd
