// InboundWays: makes the node reachable: listens on the configured addresses, and maintains the
// onion service and the port mapping of the router. Owned by PeerNetwork. Start-up and net-msg;
// TorControl and PortMapper run on net-io.
#pragma once

#include "net/node_addresses.h"
#include "net/socket/connections.h"

namespace ibd {

class InboundWays {
public:
    InboundWays(NetworkState& state, NodeAddresses& addresses, Connections& connections)
        : m_state(state), m_addresses(addresses), m_connections(connections)
    {
    }

    /** The error is Core's sentence. */
    Result<> Listen();
    /** Contacts Tor and the router, if the options say so; after Connections::Start(). */
    void Start();
    /** Called when our address `own` becomes reachable by others, or no longer is; any thread. */
    void Reachable(const Endpoint& own, bool on);

private:
    void StartOnionService();
    void StartPortMapper();
    void UseTor(const Endpoint& socks);

    NetworkState& m_state;
    const PeerNetworkSurroundings& m_at{m_state.at};
    const PeerNetworkOptions& m_options{m_state.options};
    NodeAddresses& m_addresses;
    Connections& m_connections;
};

} // namespace ibd
