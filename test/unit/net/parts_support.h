// Shared by tests of the parts of PeerNetwork: the parts, without sockets, threads and files. Time
// stands until it is moved.
#pragma once

#include "net/automatic_peers.h"
#include "net/inbound_peers.h"
#include "net/peer_support.h"
#include "net/private_peers.h"
#include "support/must.h"

namespace ibd::test {

/** Keeps the orders. */
class TestDialler final : public Dialler {
public:
    SocketId NextSocketId() override { return m_next++; }
    void Dial(DialOrder order) override { orders.push_back(std::move(order)); }
    void Refuse(SocketId socket) override { refused.push_back(socket); }

    /** The order for this address; null: there is none. */
    const DialOrder* Find(const std::string& address) const
    {
        for (const DialOrder& order : orders) {
            for (const DialTarget& target : order.targets) {
                if (target.address.ToString() == address || target.host == address) return &order;
            }
        }
        return nullptr;
    }

    std::vector<DialOrder> orders;
    std::vector<SocketId> refused;

private:
    SocketId m_next = 0;
};

class PartsKit {
public:
    using Change = std::function<void(PeerNetworkOptions&)>;
    struct Admitted {
        SocketId socket;
        PeerId id;
        Connections::Speech speech;
    };

    explicit PartsKit(const Change& change = [](PeerNetworkOptions&) {})
        : node(RegtestParams()), options(Changed(change)), state(Surroundings(), options),
          access(state), addresses(state, access), resolver(SystemLookUp),
          calls(state, access, addresses, dialler, resolver,
                [this](SocketId socket, ConnectedPeer peer, Connections::Speech speech) {
                    admitted.push_back({socket, Connect(std::move(peer)), speech});
                }),
          named(state, calls), automatic(state, addresses, named, calls, resolver, node.manager),
          privately(state, addresses, calls, node.manager.Private()),
          inbound(state, access, node.manager)
    {
        Must(addresses.Load());
        state.started = true;
    }

    /** As if it was admitted. */
    PeerId Connect(ConnectedPeer peer)
    {
        const NewPeer& added = state.peers.Add(std::move(peer)).peer;
        node.manager.Connected(added);
        return added.id;
    }
    PeerId Connect(ConnectionKind kind, const std::string& address)
    {
        ConnectedPeer peer;
        peer.peer.kind = kind;
        peer.peer.address = *Endpoint::Parse(address, 8333);
        peer.peer.name = address;
        return Connect(std::move(peer));
    }
    static OutboundCall To(const std::string& address,
                           ConnectionKind kind = ConnectionKind::kOutboundFullRelay)
    {
        OutboundCall out;
        out.kind = kind;
        out.address.endpoint = *Endpoint::Parse(address, 8333);
        return out;
    }
    static OutboundCall Named(const std::string& name)
    {
        OutboundCall out;
        out.destination = name;
        return out;
    }
    /** The order to dial ended at its first target. */
    void Answer(const DialOrder& order, bool ok, bool proxy_failed = false)
    {
        DialResult result;
        result.id = order.id;
        result.tried = 1;
        result.proxy_failed = {proxy_failed};
        result.ok = ok;
        calls.Dialled(result);
    }
    Caller CallerFrom(const std::string& address)
    {
        Caller out;
        out.id = dialler.NextSocketId();
        out.remote = *Endpoint::Parse(address, 8333);
        return out;
    }

    TestNode node;
    const PeerNetworkOptions options;
    std::vector<std::map<Subnet, BanEntry>> saved_bans;
    NetworkState state;
    AccessRules access;
    NodeAddresses addresses;
    TestDialler dialler;
    Resolver resolver;
    std::vector<Admitted> admitted;
    OutboundCalls calls;
    NamedPeers named;
    AutomaticPeers automatic;
    PrivatePeers privately;
    InboundPeers inbound;

private:
    static PeerNetworkOptions Changed(const Change& change)
    {
        PeerNetworkOptions out;
        out.discover = out.dns_seed = out.fixed_seeds = false;
        change(out);
        return out;
    }
    PeerNetworkSurroundings Surroundings()
    {
        return {node.env,
                *node.logger,
                node.params,
                node.chain,
                node.chain,
                node.chain,
                [this] { return node.now; },
                [this](const std::map<Subnet, BanEntry>& bans) { saved_bans.push_back(bans); }};
    }
};

} // namespace ibd::test
