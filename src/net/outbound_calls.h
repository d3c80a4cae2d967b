// OutboundCalls: attempts to connect to peers, by address or by name, directly or through a proxy.
// Owned by PeerNetwork; net-msg. Memory: kMaxCalls attempts.
#pragma once

#include "net/address/resolver.h"
#include "net/node_addresses.h"
#include "net/socket/connections.h"

#include <future>

namespace ibd {

/** A connection to make. */
struct OutboundCall {
    ConnectionKind kind = ConnectionKind::kManual;
    std::string destination; //!< a name or an address from the user; empty: use the next member
    PeerAddress address;
    bool v2 = false;
    bool count_failure = false; //!< the address manager counts a failure
    bool added = false;         //!< from NamedPeers::Add()
    /** Used in place of the network's proxy. */
    std::optional<ProxyServer> proxy = {};
    /** Called at the end of the attempt. */
    std::function<void(bool ok)> ended = {};
    /** Released at the end of the attempt, for callers that wait for it. */
    std::shared_ptr<std::promise<void>> over = {};
};

class OutboundCalls {
public:
    static constexpr size_t kMaxCalls = 256; //!< running attempts

    /** Takes over a socket that is connected. */
    using Admit = std::function<void(SocketId, ConnectedPeer, Connections::Speech)>;
    OutboundCalls(NetworkState& state, const AccessRules& access, NodeAddresses& addresses,
                  Dialler& dialler, Resolver& resolver, Admit admit)
        : m_state(state), m_access(access), m_addresses(addresses), m_dialler(dialler),
          m_resolver(resolver), m_admit(std::move(admit))
    {
    }

    /** Starts an attempt. False: refused, because it is not possible now or would be useless. */
    bool Connect(OutboundCall call);
    /** Connects again by v1 to a peer that did not speak v2. */
    void Retry(const ConnectedPeer& peer);
    /** Makes an automatic connection, for tests. False: no slot of this kind is free. */
    bool AddConnection(const std::string& address, OutboundCall call);
    /** Call it when an attempt has ended. */
    void Dialled(const DialResult& result);
    /** Releases all callers that wait for attempts. */
    void ReleaseWaiting();

    /** Used slots of automatic outbound connections, including running attempts. */
    int AutomaticOutbound() const;
    /** Whether an attempt for an automatic slot is running. */
    bool HasAutomatic() const;
    /** Number of running attempts of a kind. */
    size_t CountOf(ConnectionKind kind) const;
    /** Number of running attempts to connect to added nodes. */
    size_t CountAdded() const;
    /** The port for an address or name without one. */
    uint16_t DefaultPort(const std::string& name) const;

private:
    struct Pending {
        OutboundCall call;
        std::vector<DialTarget> targets;
    };
    bool MayCall(const OutboundCall& call) const;
    bool IsCalling(const OutboundCall& call) const;
    void LookUpAndDial(OutboundCall call, const std::string& host, uint16_t port);
    void DialNamed(OutboundCall call, const std::vector<NetAddress>& found, uint16_t port);
    void Dial(Pending pending);
    DialTarget TargetOf(const OutboundCall& call, const Endpoint& endpoint) const;
    bool IsProxy(const NetAddress& address) const;

    NetworkState& m_state;
    const PeerNetworkSurroundings& m_at{m_state.at};
    const PeerNetworkOptions& m_options{m_state.options};
    const AccessRules& m_access;
    NodeAddresses& m_addresses;
    Dialler& m_dialler;
    Resolver& m_resolver;
    const Admit m_admit;
    std::map<SocketId, Pending> m_calls; //!< name look-ups and dials
};

} // namespace ibd
