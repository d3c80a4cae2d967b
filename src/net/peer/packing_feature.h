// PackingFeature: which peers send and take packed blocks and transactions, by a feature of the
// handshake (-blockcompression). Unknown to all other nodes, it tells the nodes of this project
// apart; so it is not announced on anonymous networks and through proxies unless the user asks for
// it (-blockcompressionprivacy). Owned by PeerManager.
#pragma once

#include "net/peer/peer_set.h"

namespace ibd {

class PackingFeature final : public PeerTopic {
public:
    explicit PackingFeature(PeerSet& peers) : m_peers(peers) {}

    void Negotiate(Peer& peer) override;
    bool TakeFeature(Peer& peer, const FeatureMessage& feature) override;

    /** Whether both sides have announced it. */
    bool IsAgreed(const Peer& peer) const
    {
        const State& state = m_states[peer];
        return state.ours && state.theirs;
    }

private:
    struct State {
        bool ours = false;
        bool theirs = false;
    };

    PeerSet& m_peers;
    const PeerOptions& m_options{m_peers.Options()};
    const PeerStates<State> m_states{m_peers};
};

} // namespace ibd
