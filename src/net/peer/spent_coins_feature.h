// SpentCoinsFeature: which peers send the coins that blocks spend (BIP455), by a feature of the
// handshake, and to which peers this node sends them (-peerspentcoins, while all blocks have undo
// data). Owned by PeerManager.
#pragma once

#include "net/peer/peer_set.h"

namespace ibd {

class SpentCoinsFeature final : public PeerTopic {
public:
    explicit SpentCoinsFeature(PeerSet& peers) : m_peers(peers) {}

    void StartRound() override;
    bool HasMore() const override { return m_more; }
    void Negotiate(Peer& peer) override;
    bool TakeFeature(Peer& peer, const FeatureMessage& feature) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

    /** Whether we have announced to the peer that we send spent coins. */
    bool IsOurs(const Peer& peer) const { return m_states[peer].ours; }
    /** Whether the peer has announced that it sends spent coins. */
    bool IsTheirs(const Peer& peer) const { return m_states[peer].theirs; }

private:
    struct State {
        bool ours = false;
        bool theirs = false;
    };

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerOptions& m_options{m_peers.Options()};
    const bool m_serves{m_options.serve_spent_coins && !m_options.prune_mode};
    const HeaderNode* m_proven = nullptr; //!< on the active chain: up to it all have undo data
    bool m_more = false;                  //!< further blocks may have it
    const PeerStates<State> m_states{m_peers};
};

} // namespace ibd
