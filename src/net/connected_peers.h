// ConnectedPeers: the admitted connections, with data that the protocol does not need: their
// origin, and whether they are closing. Owned by PeerNetwork; net-msg.
#pragma once

#include "crypto/siphash.h"
#include "net/network_values.h"
#include "net/peer/peer_link.h"
#include "net/socket/proxy_server.h"

#include <map>

namespace ibd {

/** Data of a connection besides PeerManager's. */
struct ConnectedPeer {
    NewPeer peer;
    std::string destination; //!< as the user gave it; empty: by address
    bool added = false;      //!< from NamedPeers::Add()
    /** The proxy used instead of its network's. */
    std::optional<ProxyServer> proxy = {};
    bool closing = false;
    bool prefer_evict = false; //!< was discouraged on arrival
    uint64_t group = 0;        //!< keyed hash of its network group
};

class ConnectedPeers {
public:
    /** `key`: random, so that others cannot predict the keyed groups. */
    ConnectedPeers(const NetGroups& groups, SipKey key) : m_groups(groups), m_key(key) {}

    /** Sets the peer's id and group; ids are never used again. */
    const ConnectedPeer& Add(ConnectedPeer peer);
    /** Removes a peer, which must be in the list. */
    ConnectedPeer Take(PeerId id);
    /** Marks the peer, if it is in the list, as about to be disconnected. */
    void SetClosing(PeerId id);

    const std::map<PeerId, ConnectedPeer>& All() const { return m_peers; }
    bool Has(const NetAddress& address) const;
    bool Has(const Endpoint& endpoint) const;
    bool HasName(const std::string& name) const;
    size_t CountOf(ConnectionKind kind) const;
    /** Those from NamedPeers. */
    size_t CountAdded() const;
    PeerCounts Counts() const;

private:
    template <typename Condition>
    size_t Count(const Condition& condition) const;

    const NetGroups& m_groups;
    const SipKey m_key;
    std::map<PeerId, ConnectedPeer> m_peers;
    PeerId m_next = 0;
};

} // namespace ibd
