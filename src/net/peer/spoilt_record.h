// SpoiltRecord: records the blocks for which each peer has sent wrong bytes; apart from these, the
// blocks that were requested with the coins that they spend, because a block that came with wrong
// coins may be sound. A peer named by the user is never disconnected for that and may reconnect, so
// its record outlives the connection. Owned by BlockRelay. Memory: two SpoiltBlocks of each peer,
// of kMaxNamed addresses and of kMaxDeparted peers.
#pragma once

#include "net/peer/peer_set.h"
#include "net/peer/spoilt_blocks.h"

#include <array>
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
    /** `with_coins`: of the blocks that are requested with their coins. */
    const SpoiltBlocks& Of(const Peer& peer, bool with_coins = false) const
    {
        return (*m_blocks[peer])[with_coins];
    }
    /** The block is never requested from this peer again in this way. Warns about peers named by
     *  the user; others are disconnected by the caller. */
    void Note(PeerId id, const HeaderNode& node, const char* how, bool with_coins = false);

private:
    using Both = std::array<SpoiltBlocks, 2>; //!< without coins, with coins
    using Shared = std::shared_ptr<Both>;
    Both* Find(PeerId id);

    PeerSet& m_peers;
    const PeerStates<Shared> m_blocks{m_peers}; //!< never null from Connected() on
    std::map<std::string, Shared> m_by_named;   //!< by address, for peers named by the user
    /** Records of the last disconnected peers named by the user. */
    std::deque<std::pair<PeerId, Shared>> m_departed;
};

} // namespace ibd
