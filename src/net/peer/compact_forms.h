// CompactForms: keeps in memory the block that was last sent or requested as a compact block
// (BIP152), because many peers request the same one. Its parts are computed only when a request
// needs them. Owned by PeerManager. Memory: a block and its compact form.
#pragma once

#include "net/peer/peer_set.h"

namespace ibd {

class CompactForms {
public:
    explicit CompactForms(PeerSet& peers) : m_peers(peers) {}

    /** The block, valid until the next call; null: it cannot be read. */
    const BlockView* Load(const HeaderNode& node);
    /** The transactions of the last loaded block. */
    const std::vector<Wtxid>& WitnessIds();
    /** Sends a cmpctblock. False: the block cannot be read. */
    bool Send(Peer& peer, const HeaderNode& node);

private:
    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const HeaderNode* m_node = nullptr;
    Bytes m_raw;
    BlockView m_view; //!< of m_raw
    std::vector<Wtxid> m_ids; //!< of its transactions; empty: not computed yet
    Bytes m_compact;          //!< payload of its cmpctblock; empty: not made yet
};

} // namespace ibd
