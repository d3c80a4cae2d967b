// PeerNetwork::Impl: the parts of PeerNetwork, and their connection: events of the sockets become
// tasks of net-msg, which serves the peers after each arrival, and ten times a second. See
// network.h. Each part owns its state and is used only by net-msg while that runs; network_state.h
// has the shared state.
#pragma once

#include "net/automatic_peers.h"
#include "net/inbound_peers.h"
#include "net/inbound_ways.h"
#include "net/network.h"
#include "net/private_peers.h"
#include "net/socket_link.h"
#include "net/tip_news.h"

namespace ibd {

class PeerNetwork::Impl final : private ConnectionEvents {
public:
    static constexpr int kRoundsAtOnce = 16; //!< duration of message processing before other work

    /** The interfaces for other threads. */
    struct Interfaces {
        PeerInfoSource info;
        ConnectionControl control;
        BanControl bans;
        AddressControl addresses;
        BlockFetching blocks;
        HintsFetching hints;
        TxControl txs;
    };

    Impl(PeerNetworkSurroundings surroundings, const PeerNetworkOptions& options);
    ~Impl() override;

    Result<> LoadAddresses() { return m_addresses.Load(); }
    Result<> Start();
    void Interrupt() { m_state.thread.Interrupt(); }
    void Stop();
    void Wake() { m_state.thread.Wake(); }
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork);
    Interfaces& GetInterfaces() { return m_interfaces; }

private:
    // ConnectionEvents; net-io.
    void Accepted(Caller caller) override;
    void Dialled(DialResult result) override;
    void Received(PeerId peer, std::vector<ReceivedMessage> messages) override;
    void Relieved(PeerId) override { Wake(); }
    void Closed(PeerId peer, bool speaks_v1) override;
    void Reachable(const Endpoint& own, bool on) override { m_ways.Reachable(own, on); }

    Result<> Prepare();
    void LogStartOfWork();
    bool Round();
    void Tick();
    void HandleAccepted(const Caller& caller);
    void HandleClosed(PeerId peer, bool speaks_v1);
    void Admit(SocketId socket, ConnectedPeer peer, Connections::Speech speech);

    NetworkState m_state;
    const PeerNetworkSurroundings& m_at{m_state.at};
    const PeerNetworkOptions& m_options{m_state.options};
    TipNews m_tip;
    AccessRules m_access;
    NodeAddresses m_addresses;
    Resolver m_resolver;
    Connections m_connections;
    SocketLink m_link;
    std::optional<MessageCapture> m_capture;
    PeerManager m_peers;
    InboundWays m_ways;
    InboundPeers m_inbound;
    OutboundCalls m_calls;
    NamedPeers m_named;
    AutomaticPeers m_automatic;
    PrivatePeers m_private;
    Interfaces m_interfaces;
    std::deque<ThreadLines> m_lines; //!< end of the work that runs from Start() to Stop()
};

} // namespace ibd
