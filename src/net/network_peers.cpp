// See network_impl.h: admission of inbound peers, and the data of connected ones.
#include "net/network_impl.h"

#include "crypto/siphash.h"
#include "util/host_port.h"

#include <algorithm>

namespace ibd {

// Inbound connections.

void PeerNetwork::Impl::Accepted(Caller caller)
{
    m_inbox.Post([this, caller = std::move(caller)] { HandleAccepted(caller); });
}

void PeerNetwork::Impl::HandleAccepted(const Caller& caller)
{
    // A connection through Tor does not reveal the peer's address.
    Link link;
    link.peer.permissions =
        WithWhitelist(caller.permissions, caller.onion ? nullptr : &caller.remote.address, true);
    if (!MayLetIn(caller, link.peer.permissions, link.prefer_evict)) {
        return m_connections.Refuse(caller.id);
    }
    link.peer.kind = ConnectionKind::kInbound;
    link.peer.address = caller.remote;
    link.peer.local = caller.local;
    link.peer.name = caller.remote.ToString();
    link.peer.inbound_onion = caller.onion;
    AddLink(caller.id, std::move(link),
            m_options.peers.services & kNodeP2pV2 ? Connections::Speech::kEither
                                                  : Connections::Speech::kV1);
    m_at.log.Debug(LogCategory::kNet, "connection from {} accepted", caller.remote.ToString());
}

bool PeerNetwork::Impl::MayLetIn(const Caller& caller, uint32_t permissions, bool& prefer_evict)
{
    const auto drop = [&](const char* why) {
        m_at.log.Debug(LogCategory::kNet, "connection from {} dropped{}", caller.remote.ToString(),
                       why);
        return false;
    };
    if (!m_active || m_interrupted) return drop(": not accepting new connections");
    const NetAddress& address = caller.remote.address;
    const bool welcome = (permissions & kPermitNoBan) == kPermitNoBan;
    if (!welcome && m_bans.IsBanned(address, NowSeconds())) return drop(" (banned)");
    const int inbound = static_cast<int>(CountOf(ConnectionKind::kInbound));
    prefer_evict = m_bans.IsDiscouraged(address);
    if (!welcome && prefer_evict && inbound + 1 >= m_limits.inbound) return drop(" (discouraged)");
    if (inbound < m_limits.inbound || EvictInbound()) return true;
    m_at.log.Debug(LogCategory::kNet,
                   "failed to find an eviction candidate - connection dropped (full)");
    return false;
}

uint32_t PeerNetwork::Impl::WithWhitelist(uint32_t permissions, const NetAddress* address,
                                          bool incoming) const
{
    for (const Whitelisted& entry : m_options.whitelist) {
        if (!(incoming ? entry.incoming : entry.outgoing)) continue;
        if (address && entry.range.Contains(*address)) permissions |= entry.permissions;
    }
    if (!(permissions & kPermitImplicit)) return permissions;
    permissions &= ~kPermitImplicit;
    if (m_options.whitelist_forcerelay) permissions |= kPermitForceRelay;
    if (m_options.whitelist_relay) permissions |= kPermitRelay;
    return permissions | kPermitMempool | kPermitNoBan;
}

// Connected peers.

void PeerNetwork::Impl::AddLink(SocketId socket, Link link, Connections::Speech speech)
{
    link.peer.id = m_next_peer++;
    link.group = KeyedGroup(link.peer.address.address);
    const NewPeer peer = link.peer;
    m_links[peer.id] = std::move(link);
    m_connections.Admit(socket, peer, speech);
    m_peers.Connected(peer);
}

uint64_t PeerNetwork::Impl::KeyedGroup(const NetAddress& address) const
{
    return SipHasher(m_group_key).Write(m_options.groups.GroupOf(address)).Finalize();
}

bool PeerNetwork::Impl::IsConnectedTo(const NetAddress& address) const
{
    return std::any_of(m_links.begin(), m_links.end(), [&](const auto& entry) {
        return entry.second.peer.address.address == address;
    });
}

bool PeerNetwork::Impl::IsConnectedTo(const Endpoint& endpoint) const
{
    return std::any_of(m_links.begin(), m_links.end(),
                       [&](const auto& entry) { return entry.second.peer.address == endpoint; });
}

bool PeerNetwork::Impl::IsConnectedByName(const std::string& name) const
{
    return std::any_of(m_links.begin(), m_links.end(),
                       [&](const auto& entry) { return entry.second.peer.name == name; });
}

size_t PeerNetwork::Impl::CountOf(ConnectionKind kind) const
{
    return static_cast<size_t>(
        std::count_if(m_links.begin(), m_links.end(),
                      [&](const auto& entry) { return entry.second.peer.kind == kind; }));
}

PeerNetwork::Counts PeerNetwork::Impl::ConnectionCounts() const
{
    const size_t in = CountOf(ConnectionKind::kInbound);
    return {in, m_links.size() - in};
}

void PeerNetwork::Impl::Received(PeerId peer, std::vector<ReceivedMessage> messages)
{
    m_inbox.Post([this, peer, messages = std::move(messages)]() mutable {
        for (ReceivedMessage& message : messages) m_peers.Received(peer, std::move(message));
    });
}

void PeerNetwork::Impl::Send(PeerId peer, OutgoingMessage message)
{
    m_connections.Send(peer, std::move(message));
}

void PeerNetwork::Impl::Disconnect(PeerId peer)
{
    if (const auto found = m_links.find(peer); found != m_links.end()) {
        found->second.closing = true;
    }
    m_connections.Disconnect(peer);
}

void PeerNetwork::Impl::Closed(PeerId peer, bool speaks_v1)
{
    m_inbox.Post([this, peer, speaks_v1] { HandleClosed(peer, speaks_v1); });
}

void PeerNetwork::Impl::HandleClosed(PeerId id, bool speaks_v1)
{
    const auto found = m_links.find(id);
    CHECK(found != m_links.end());
    const Link link = std::move(found->second);
    m_links.erase(found);
    m_peers.Disconnected(id);
    m_connections.Forget(id);
    if (!speaks_v1 || !m_active || m_interrupted) return;
    m_at.log.Debug(LogCategory::kNet, "retrying with v1 transport protocol for peer={}", id);
    Call call;
    call.kind = link.peer.kind;
    call.destination = link.destination;
    call.address.endpoint = link.peer.address;
    call.address.services = link.peer.services;
    call.added = link.added;
    (void)Connect(std::move(call));
}

bool PeerNetwork::Impl::Disconnect(PeerId peer, const std::string& why)
{
    return m_peers.Disconnect(peer, why);
}

bool PeerNetwork::Impl::Disconnect(const std::string& name)
{
    for (const auto& [id, link] : m_links) {
        if (link.peer.name != name) continue;
        const bool log = m_options.peers.log_addresses;
        return Disconnect(id, fmt::format("disconnect by address{} match", log ? "=" + name : ""));
    }
    return false;
}

void PeerNetwork::Impl::DisconnectRange(const Subnet& range)
{
    const bool log = m_options.peers.log_addresses;
    const std::string why =
        fmt::format("disconnect by subnet{} match", log ? "=" + range.ToString() : "");
    for (const auto& [id, link] : m_links) {
        if (range.Contains(link.peer.address.address)) (void)Disconnect(id, why);
    }
}

void PeerNetwork::Impl::SetActive(bool active)
{
    m_at.log.Info("SetNetworkActive: {}", active);
    if (m_active.exchange(active) == active || active) return;
    for (const auto& [id, link] : m_links) (void)Disconnect(id, "Network not active");
}

} // namespace ibd
