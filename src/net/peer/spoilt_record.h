// SpoiltRecord: records the blocks for which each peer has sent wrong bytes. A peer named by the
// user is never disconnected for that and may reconnect, so its record outlives the connection.
// Owned by BlockRelay. Memory: SpoiltBlocks of each peer, of kMaxNamed addresses and of
// kMaxDeparted peers.
#pragma once

#include "net/peer/peer_set.h"
#include "net/peer/spoilt_blocks.h"

#include <deque>

namespace ibd {

class SpoiltRecord {
public:
    static constexpr size_t kMaxNamed = 1024;
    static constexpr size_t kMaxDeparted = 64;

    explicit SpoiltRecord(PeerSet& peers) : m_peers(peers) {}

    /** A peer named by the user gets the record of earlier peers at its address. */
    void Connected(Peer& peer);
    /** Keeps the record, because the verdict on the peer's last blocks may come after its
     *  disconnection. */
    void Disconnected(const Peer& peer);
    const SpoiltBlocks& Of(const Peer& peer) const { return *m_blocks[peer]; }
    /** The block is never requested from this peer again. Warns about peers named by the user;
     *  others are disconnected by the caller. */
    void Note(PeerId id, const HeaderNode& node, const char* how);

private:
    using Shared = std::shared_ptr<SpoiltBlocks>;
    SpoiltBlocks* Find(PeerId id);

    PeerSet& m_peers;
    const PeerStates<Shared> m_blocks{m_peers}; //!< never null from Connected() on
    std::map<std::string, Shared> m_by_named;   //!< by address, for peers named by the user
    /** Records of the last disconnected peers named by the user. */
    std::deque<std::pair<PeerId, Shared>> m_departed;
};

} // namespace ibd
