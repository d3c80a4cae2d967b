// KnownChains: the part of the header tree that each peer is known to have, and whether our tip is
// recent. Not a topic: several topics use it. Owned by PeerManager.
#pragma once

#include "net/peer/peer_set.h"

namespace ibd {

class KnownChains {
public:
    explicit KnownChains(PeerSet& peers) : m_peers(peers) {}

    /** The block with the most work that the peer is known to have; null: none. */
    const HeaderNode* BestOf(const Peer& peer) const { return m_states[peer].best; }
    /** Records that the peer has this block. */
    void NoteAnnounced(Peer& peer, const BlockHash& hash);
    /** Call it when the header of its last announced block may have become known. */
    void ResolveUnknown(Peer& peer);
    /** Records the last header that we sent to the peer. */
    void SetSent(Peer& peer, const HeaderNode& node) { m_states[peer].sent = &node; }
    /** Whether the peer has announced the block, or received its announcement. */
    bool HasHeader(const Peer& peer, const HeaderNode& node) const;

    /** Whether our tip is so recent that few blocks can be missing. */
    bool IsCaughtUp() const;

private:
    struct State {
        const HeaderNode* best = nullptr;
        BlockHash unknown; //!< announced block that we do not know
        const HeaderNode* sent = nullptr;
    };
    static void Raise(State& state, const HeaderNode& node);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerStates<State> m_states{m_peers};
};

} // namespace ibd
