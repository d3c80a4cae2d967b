// BlockAnnouncing: announcements of new blocks, as inv, headers or compact blocks, to peers; and
// the choice of the peers that announce their blocks to us by compact blocks (BIP152). Owned by
// PeerManager. Memory: kMaxAnnouncements blocks and the hashes of one inv for each peer.
#pragma once

#include "net/peer/compact_forms.h"
#include "net/peer/known_chains.h"

namespace ibd {

class BlockAnnouncing final : public PeerTopic {
public:
    static constexpr size_t kMaxAnnouncements = 8; //!< headers in an announcement

    BlockAnnouncing(PeerSet& peers, KnownChains& chains, CompactForms& forms)
        : m_peers(peers), m_chains(chains), m_forms(forms)
    {
    }

    void Established(Peer& peer) override;
    void Handle(Peer& peer, ReceivedMessage& message) override;
    void Maintain(Peer& peer) override;
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

    /** Announces a stored block before it is connected, to the peers that want compact
     *  announcements. It has passed all checks that need no coins. */
    void AnnounceEarly(const HeaderNode& node);
    /** Queues the block for the peer's next inv. */
    void QueueInv(Peer& peer, const BlockHash& hash) { m_states[peer].to_inv.push_back(hash); }

    // From peers.

    bool ProvidesCompact(const Peer& peer) const { return m_states[peer].provides_compact; }
    /** Whether compact blocks are useful, and this peer supports them. */
    bool MaySendCompact(const Peer& peer) const;
    /** Whether we requested announcements by compact block. */
    bool IsAnnouncer(const Peer& peer) const { return m_states[peer].is_announcer; }
    /** Records that the peer was the first to send a new block: it is chosen as an announcer. */
    void ChooseAnnouncer(Peer& peer);

private:
    struct State {
        bool prefers_headers = false;
        bool provides_compact = false; //!< it supports compact blocks
        bool wants_compact = false;    //!< it requested announcements by compact block
        bool is_announcer = false;
        std::deque<const HeaderNode*> to_announce;
        std::vector<BlockHash> to_inv;
    };
    void HandleSendCompact(Peer& peer, ByteSpan payload);
    void Announce(Peer& peer);
    bool Collect(const Peer& peer, std::vector<BlockHeader>& out) const;
    void SendInventory(Peer& peer);
    bool IsOutbound(PeerId id) const;

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    KnownChains& m_chains;
    CompactForms& m_forms;
    const PeerStates<State> m_states{m_peers};
    CompactAnnouncers m_announcers;
    int32_t m_announced_early = 0; //!< highest block announced before it was connected
};

} // namespace ibd
