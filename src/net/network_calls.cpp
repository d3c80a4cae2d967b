// See network_impl.h: outbound connections, by address or by name, directly or through a proxy.
#include "net/network_impl.h"

#include "util/host_port.h"

#include <algorithm>

namespace ibd {

bool PeerNetwork::Impl::MayCall(const Call& call)
{
    if (m_interrupted || !m_active || m_calls.size() >= kMaxCalls || IsCalling(call)) return false;
    if (!call.destination.empty()) return !IsConnectedByName(call.destination);
    const NetAddress& address = call.address.endpoint.address;
    if (m_local.Contains(address) || m_bans.IsDiscouraged(address) ||
        m_bans.IsBanned(address, NowSeconds())) {
        return false;
    }
    return !IsConnectedTo(address);
}

bool PeerNetwork::Impl::IsCalling(const Call& call) const
{
    return std::any_of(m_calls.begin(), m_calls.end(), [&](const auto& entry) {
        const Call& other = entry.second.call;
        if (!call.destination.empty()) return other.destination == call.destination;
        return other.destination.empty() &&
               other.address.endpoint.address == call.address.endpoint.address;
    });
}

/** I2P addresses have no ports. */
uint16_t PeerNetwork::Impl::DefaultPort(const std::string& name) const
{
    const auto address = NetAddress::Parse(name);
    return address && address->Is(AddressNetwork::kI2p) ? 0 : m_at.params.p2p_port;
}

bool PeerNetwork::Impl::Connect(Call call)
{
    // RPC calls may come before the network starts.
    if (!m_started || !MayCall(call)) return false;
    const Endpoint& endpoint = call.address.endpoint;
    const bool by_name = !call.destination.empty();
    const double hours = by_name ? 0 : static_cast<double>(NowSeconds() - call.address.time) / 3600;
    m_at.log.Debug(LogCategory::kNet, "trying {} connection ({}) to {}, lastseen={:.1f}hrs",
                   call.v2 ? "v2" : "v1", ConnectionKindName(call.kind),
                   by_name ? call.destination : endpoint.ToString(), hours);
    if (!by_name) {
        Dial({call, {TargetOf(endpoint)}});
        return true;
    }
    std::string_view name = call.destination;
    // I2P addresses have port 0, which is invalid otherwise.
    if (name.ends_with(".b32.i2p:0")) name.remove_suffix(2);
    const auto split = SplitHostPort(name);
    if (!split) return false;
    const uint16_t port = split->port.value_or(DefaultPort(split->host));
    if (const auto address = NetAddress::Parse(split->host)) {
        DialNamed(std::move(call), {*address}, port);
    } else {
        LookUpAndDial(std::move(call), split->host, port);
    }
    return true;
}

void PeerNetwork::Impl::LookUpAndDial(Call call, const std::string& host, uint16_t port)
{
    if (m_options.name_proxy.IsSet()) {
        return Dial({std::move(call), {DialTarget{{}, host, port, m_options.name_proxy}}});
    }
    if (!m_options.names) return;
    const SocketId id = m_connections.NextSocketId();
    m_calls[id] = {call, {}};
    const auto answer = [this, id, port](std::vector<NetAddress> found) {
        m_inbox.Post([this, id, port, found = std::move(found)] {
            const Call waiting = std::move(m_calls.at(id).call);
            m_calls.erase(id);
            DialNamed(waiting, found, port);
        });
    };
    if (!m_resolver.Ask(host, DialOrder::kMaxTargets, answer)) m_calls.erase(id);
}

void PeerNetwork::Impl::DialNamed(Call call, const std::vector<NetAddress>& found, uint16_t port)
{
    PendingCall pending;
    for (const NetAddress& address : found) {
        const Endpoint endpoint{address.WithCjdns(m_options.cjdns_reachable), port};
        if (!endpoint.address.IsValid()) {
            m_at.log.Debug(LogCategory::kNet, "Resolver returned invalid address {} for {}",
                           endpoint.ToString(), call.destination);
            return;
        }
        if (IsConnectedTo(endpoint)) {
            m_at.log.Info("Not opening a connection to {}, already connected to {}",
                          call.destination, endpoint.ToString());
            return;
        }
        pending.targets.push_back(TargetOf(endpoint));
    }
    if (pending.targets.empty()) return;
    auto& targets = pending.targets;
    for (size_t i = targets.size() - 1; i > 0; --i) {
        std::swap(targets[i], targets[m_chance.Below(i + 1)]);
    }
    pending.call = std::move(call);
    Dial(std::move(pending));
}

DialTarget PeerNetwork::Impl::TargetOf(const Endpoint& endpoint) const
{
    DialTarget out;
    out.address = endpoint;
    // Unroutable addresses are local and need no proxy.
    const auto proxy = m_ways.proxies.find(endpoint.address.RoutableNetwork());
    if (proxy != m_ways.proxies.end()) out.proxy = proxy->second;
    return out;
}

void PeerNetwork::Impl::Dial(PendingCall pending)
{
    DialOrder order;
    order.id = m_connections.NextSocketId();
    order.targets = pending.targets;
    order.manual = pending.call.kind == ConnectionKind::kManual;
    m_calls[order.id] = std::move(pending);
    m_connections.Dial(std::move(order));
}

void PeerNetwork::Impl::Dialled(DialResult result)
{
    m_inbox.Post([this, result = std::move(result)] { HandleDialled(result); });
}

void PeerNetwork::Impl::HandleDialled(const DialResult& result)
{
    const auto found = m_calls.find(result.id);
    CHECK(found != m_calls.end());
    const PendingCall pending = std::move(found->second);
    m_calls.erase(found);
    const Call& call = pending.call;
    for (size_t i = 0; i < result.tried; ++i) {
        const Endpoint& endpoint = pending.targets[i].address;
        if (!endpoint.address.IsValid() || result.proxy_failed[i]) continue;
        m_addresses->Attempt(endpoint, call.count_failure, NowSeconds());
    }
    if (!result.ok) return;
    if (!m_active || m_interrupted) return m_connections.Refuse(result.id);
    const Endpoint& endpoint = pending.targets[result.tried - 1].address;
    Link link;
    link.destination = call.destination;
    link.added = call.added;
    link.peer.kind = call.kind;
    link.peer.address = endpoint;
    link.peer.local = result.local;
    link.peer.name = call.destination.empty() ? endpoint.ToString() : call.destination;
    link.peer.services = call.address.services;
    link.peer.through_proxy = IsProxy(endpoint.address);
    if (call.kind == ConnectionKind::kManual) {
        link.peer.permissions = WithWhitelist(kPermitNone, &endpoint.address, false);
    }
    AddLink(result.id, std::move(link),
            call.v2 ? Connections::Speech::kV2 : Connections::Speech::kV1);
}

bool PeerNetwork::Impl::IsProxy(const NetAddress& address) const
{
    return std::any_of(m_ways.proxies.begin(), m_ways.proxies.end(), [&](const auto& entry) {
        return entry.second.IsSet() && entry.second.address.address == address;
    });
}

void PeerNetwork::Impl::ReleaseWaitingCalls()
{
    for (auto& [id, pending] : m_calls) pending.call.over.reset();
}

bool PeerNetwork::Impl::AddConnection(const std::string& address, Call call)
{
    const ConnectionKind kind = call.kind;
    const int same = static_cast<int>(CountOf(kind) + CallsOf(kind));
    if (kind == ConnectionKind::kInbound || kind == ConnectionKind::kManual) return false;
    if (kind == ConnectionKind::kOutboundFullRelay && same >= m_limits.full_relay) return false;
    if (kind == ConnectionKind::kBlockRelay && same >= m_limits.block_relay) return false;
    if (AutomaticOutbound() >= m_limits.all) return false;
    call.destination = address;
    (void)Connect(std::move(call));
    return true;
}

size_t PeerNetwork::Impl::CallsOf(ConnectionKind kind) const
{
    return static_cast<size_t>(
        std::count_if(m_calls.begin(), m_calls.end(),
                      [&](const auto& entry) { return entry.second.call.kind == kind; }));
}

/** Used slots of automatic outbound connections, including running attempts. */
int PeerNetwork::Impl::AutomaticOutbound() const
{
    size_t count = 0;
    for (const auto kind : {ConnectionKind::kOutboundFullRelay, ConnectionKind::kBlockRelay,
                            ConnectionKind::kFeeler, ConnectionKind::kAddrFetch}) {
        count += CountOf(kind) + CallsOf(kind);
    }
    return static_cast<int>(count);
}

} // namespace ibd
