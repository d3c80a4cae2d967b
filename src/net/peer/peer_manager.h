// PeerManager: the dispatcher of the protocol with peers. It owns the peers and the topics, passes
// each message to the topic of its row in wire/message_table.h, and runs the due work of all
// topics. It has no socket, no thread and no clock, so that a simulated network runs from one seed:
// messages come in by Received(), answers leave by a PeerLink; time, randomness and the chain are
// interfaces. Rules and numbers are Bitcoin Core's.
//
// A new topic is a class (peer_topic.h), a member here and in List(), and rows of the table.
//
// Owned by the node or a test; one thread. Memory: that of its peers and topics.
#pragma once

#include "net/peer/address_gossip.h"
#include "net/peer/block_serving.h"
#include "net/peer/compact_relay.h"
#include "net/peer/filter_serving.h"
#include "net/peer/handshake.h"
#include "net/peer/keepalive.h"
#include "net/peer/packed_serving.h"
#include "net/peer/peer_rotation.h"
#include "net/peer/private_relay.h"
#include "net/peer/spent_coins_feature.h"
#include "net/peer/spent_coins_serving.h"
#include "net/peer/tx_reconciliation.h"
#include "net/peer/tx_relay.h"
#include "net/wire/message_table.h"

namespace ibd {

class PeerManager {
public:
    PeerManager(PeerSurroundings surroundings, PeerOptions options);

    // Fetching of blocks and hints: see BlockRelay and HintsExchange.

    void DownloadInto(DownloadGoal& goal, BlockSink& sink) { m_blocks.DownloadInto(goal, sink); }
    void StopDownload() { m_blocks.StopDownload(); }
    Result<> FetchBlock(PeerId peer, const HeaderNode& node)
    {
        return m_blocks.FetchBlock(peer, node);
    }
    void FetchHints(HintsGoal& goal, int64_t offer_time = kHintsOfferTime)
    {
        m_hints.Fetch(goal, offer_time);
    }
    void StopHints() { m_hints.Stop(); }
    void NextHints(const std::string& why) { m_hints.Next(why); }
    void PunishForHints(const Uint256& id) { m_hints.Punish(id); }

    // Transactions.

    /** Announces a transaction of a user of this node that is in the pool. */
    void Announce(const Transaction& tx) { m_tx_announcer.Announce(tx); }
    std::vector<OrphanPool::Orphan> Orphans() const { return m_txs.Fetcher().Orphans().All(); }
    /** For tests: the state kept about transactions that are not in the pool. */
    const TxFetcher& TxsToCome() const { return m_txs.Fetcher(); }
    PrivateRelay& Private() { return m_private; }
    const PrivateRelay& Private() const { return m_private; }
    void AnnounceAgain() { m_tx_announcer.AnnounceAgain(); }

    // Events of connections and of the chain.

    void Connected(NewPeer connection);
    /** A message to be read in turn; PeerLink::Consumed() reports that. */
    void Received(PeerId peer, ReceivedMessage message);
    void Disconnected(PeerId peer);
    /** The active chain ends in `tip`, and left the old one at `fork`. */
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork);

    /** Reads at most one message of each peer and does its due work, or as much of that as fits
     *  into kWorkTime; then the next call continues, after the blocks that were received meanwhile.
     *  Returns whether more can be done at once; if not, call it after an arrival, and ten times a
     *  second. */
    bool Work();
    static constexpr int64_t kWorkTime = 250; //!< microseconds

    // For the user.

    void PingAll() { m_keepalive.PingAll(); }
    /** Logs "`why`, disconnecting peer=3". False: no such peer. */
    bool Disconnect(PeerId peer, const std::string& why);
    /** Sends any message, to test the other side. False: no such peer has sent verack. */
    bool SendTo(PeerId peer, OutgoingMessage message);
    std::vector<PeerInfo> Info() const;
    size_t Count() const { return m_peers.All().size(); }
    /** Asks the peers for their last headers. */
    HeaderAnswers AskForLastHeaders() { return m_headers.AskForLastHeaders(); }
    int64_t TimeOffset() const { return m_handshake.TimeOffset(); }

    // For connecting to peers: see PeerRotation and PeerSet.

    bool WantsAnother() const { return m_rotation.WantsAnother(); }
    bool IsSynced() const { return m_rotation.IsSynced(); }
    size_t CountEstablished(ConnectionKind kind) const { return m_peers.CountEstablished(kind); }
    bool IsDesirable(uint64_t services) const { return m_peers.IsDesirable(services); }

private:
    PeerTopic* TopicOf(MessageTopic topic);
    bool WorkOn(Peer& peer);
    bool BringsBlock(const Peer& peer) const;
    bool ReadOne(Peer& peer);
    bool HasUnserved(const Peer& peer, PeerTopic::Unserved kind) const;
    void Handle(Peer& peer, ReceivedMessage& message);
    bool IsAtStage(const Peer& peer, const MessageRow* row, const std::string& type) const;
    void Maintain(Peer& peer);
    bool PunishIfMisbehaved(Peer& peer);
    PeerInfo InfoOf(const Peer& peer) const;

    PeerSet m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    KnownChains m_chains{m_peers};
    CompactForms m_forms{m_peers};
    RecentBlock m_recent{m_forms};
    // The topics; each may use those before it.
    AddressGossip m_gossip{m_peers};
    Handshake m_handshake{m_peers};
    Keepalive m_keepalive{m_peers};
    BloomFilters m_bloom{m_peers};
    TxReconciliation m_reconciliation{m_peers};
    PackingFeature m_packing{m_peers};
    SpentCoinsFeature m_coins_feature{m_peers};
    TxAnnouncer m_tx_announcer{m_peers, m_bloom, m_recent};
    PrivateRelay m_private{m_peers, m_keepalive};
    TxRelay m_txs{m_peers, m_tx_announcer, m_forms, m_recent, m_private, m_packing};
    HintsExchange m_hints{m_peers};
    HeaderDownload m_headers{m_peers, m_chains, m_txs};
    BlockAnnouncing m_announcing{m_peers, m_chains, m_forms};
    BlockRelay m_blocks{m_peers, m_chains,  m_headers,      m_announcing,
                        m_hints, m_packing, m_coins_feature};
    CompactRelay m_compact{m_peers, m_chains, m_headers, m_announcing, m_blocks, m_txs};
    BlockServing m_serving{m_peers, m_chains,       m_forms,  m_announcing,
                           m_bloom, m_tx_announcer, m_packing};
    FilterServing m_filters{m_peers, m_serving};
    SpentCoinsServing m_spent_coins{m_peers, m_coins_feature, m_serving};
    PackedServing m_packed{m_peers, m_packing, m_serving};
    PeerRotation m_rotation{m_peers, m_headers, m_blocks};
    std::optional<PeerId> m_next; //!< the peer at which Work() continues; nothing: the first
    uint64_t m_steps = 0;         //!< messages read, and further answers to one
    size_t m_idle = 0; //!< peers visited without a step since the last one or a whole round
};

} // namespace ibd
