// InboundPeers: admission of inbound peers: refuses some, and evicts one for another. Owned by
// PeerNetwork; net-msg.
#pragma once

#include "net/access_rules.h"
#include "net/peer/peer_manager.h"
#include "net/socket/connections.h"

namespace ibd {

class InboundPeers {
public:
    InboundPeers(NetworkState& state, const AccessRules& access, PeerManager& manager)
        : m_state(state), m_access(access), m_manager(manager)
    {
    }

    /** The peer to admit for this connection; nothing: it is refused. May evict another. */
    std::optional<ConnectedPeer> Admit(const Caller& caller);

private:
    bool MayLetIn(const Caller& caller, const ConnectedPeer& peer);
    bool Evict();

    const NetworkState& m_state;
    const PeerNetworkSurroundings& m_at{m_state.at};
    const AccessRules& m_access;
    PeerManager& m_manager;
};

} // namespace ibd
