// See outbound_calls.h.
#include "net/outbound_calls.h"

#include "util/host_port.h"

#include <algorithm>

namespace ibd {

bool OutboundCalls::MayCall(const OutboundCall& call) const
{
    if (!m_state.MayConnect() || m_calls.size() >= kMaxCalls || IsCalling(call)) return false;
    if (!call.destination.empty()) return !m_state.peers.HasName(call.destination);
    const NetAddress& address = call.address.endpoint.address;
    if (m_addresses.Own().Contains(address) || m_access.IsUnwanted(address)) return false;
    return !m_state.peers.Has(address);
}

bool OutboundCalls::IsCalling(const OutboundCall& call) const
{
    return std::any_of(m_calls.begin(), m_calls.end(), [&](const auto& entry) {
        const OutboundCall& other = entry.second.call;
        if (!call.destination.empty()) return other.destination == call.destination;
        return other.destination.empty() &&
               other.address.endpoint.address == call.address.endpoint.address;
    });
}

/** I2P addresses have no ports. */
uint16_t OutboundCalls::DefaultPort(const std::string& name) const
{
    const auto address = NetAddress::Parse(name);
    return address && address->Is(AddressNetwork::kI2p) ? 0 : m_at.params.p2p_port;
}

bool OutboundCalls::Connect(OutboundCall call)
{
    // RPC calls may arrive before the network starts.
    if (!m_state.started || !MayCall(call)) return false;
    const Endpoint& endpoint = call.address.endpoint;
    const bool by_name = !call.destination.empty();
    const double hours =
        by_name ? 0 : static_cast<double>(m_state.NowSeconds() - call.address.time) / 3600;
    m_at.log.Debug(LogCategory::kNet, "trying {} connection ({}) to {}, lastseen={:.1f}hrs",
                   call.v2 ? "v2" : "v1", ConnectionKindName(call.kind),
                   by_name ? call.destination : endpoint.ToString(), hours);
    if (!by_name) {
        Dial({call, {TargetOf(call, endpoint)}});
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

void OutboundCalls::LookUpAndDial(OutboundCall call, const std::string& host, uint16_t port)
{
    if (m_options.name_proxy.IsSet()) {
        return Dial({std::move(call), {DialTarget{{}, host, port, m_options.name_proxy}}});
    }
    if (!m_options.names) return;
    const SocketId id = m_dialler.NextSocketId();
    m_calls[id] = {call, {}};
    const auto answer = [this, id, port](std::vector<NetAddress> found) {
        m_state.thread.Post([this, id, port, found = std::move(found)] {
            const OutboundCall waiting = std::move(m_calls.at(id).call);
            m_calls.erase(id);
            DialNamed(waiting, found, port);
        });
    };
    if (!m_resolver.Ask(host, DialOrder::kMaxTargets, answer)) m_calls.erase(id);
}

void OutboundCalls::DialNamed(OutboundCall call, const std::vector<NetAddress>& found,
                              uint16_t port)
{
    Pending pending;
    for (const NetAddress& address : found) {
        const Endpoint endpoint{address.WithCjdns(m_options.cjdns_reachable), port};
        if (!endpoint.address.IsValid()) {
            m_at.log.Debug(LogCategory::kNet, "Resolver returned invalid address {} for {}",
                           endpoint.ToString(), call.destination);
            return;
        }
        if (m_state.peers.Has(endpoint)) {
            m_at.log.Info("Not opening a connection to {}, already connected to {}",
                          call.destination, endpoint.ToString());
            return;
        }
        pending.targets.push_back(TargetOf(call, endpoint));
    }
    if (pending.targets.empty()) return;
    auto& targets = pending.targets;
    for (size_t i = targets.size() - 1; i > 0; --i) {
        std::swap(targets[i], targets[m_state.chance.Below(i + 1)]);
    }
    pending.call = std::move(call);
    Dial(std::move(pending));
}

DialTarget OutboundCalls::TargetOf(const OutboundCall& call, const Endpoint& endpoint) const
{
    DialTarget out;
    out.address = endpoint;
    if (call.proxy) {
        out.proxy = *call.proxy;
        return out;
    }
    // Unroutable addresses are local and need no proxy.
    const auto proxy = m_state.ways.proxies.find(endpoint.address.RoutableNetwork());
    if (proxy != m_state.ways.proxies.end()) out.proxy = proxy->second;
    return out;
}

void OutboundCalls::Dial(Pending pending)
{
    DialOrder order;
    order.id = m_dialler.NextSocketId();
    order.targets = pending.targets;
    order.manual = pending.call.kind == ConnectionKind::kManual;
    m_calls[order.id] = std::move(pending);
    m_dialler.Dial(std::move(order));
}

void OutboundCalls::Dialled(const DialResult& result)
{
    const auto found = m_calls.find(result.id);
    CHECK(found != m_calls.end());
    const Pending pending = std::move(found->second);
    m_calls.erase(found);
    const OutboundCall& call = pending.call;
    for (size_t i = 0; i < result.tried; ++i) {
        const Endpoint& endpoint = pending.targets[i].address;
        if (!endpoint.address.IsValid() || result.proxy_failed[i]) continue;
        m_addresses.Others().Attempt(endpoint, call.count_failure, m_state.NowSeconds());
    }
    if (call.ended) call.ended(result.ok);
    if (!result.ok) return;
    if (!m_state.MayConnect()) return m_dialler.Refuse(result.id);
    const Endpoint& endpoint = pending.targets[result.tried - 1].address;
    ConnectedPeer peer;
    peer.destination = call.destination;
    peer.added = call.added;
    peer.proxy = call.proxy;
    peer.peer.kind = call.kind;
    peer.peer.address = endpoint;
    peer.peer.local = result.local;
    peer.peer.name = call.destination.empty() ? endpoint.ToString() : call.destination;
    peer.peer.services = call.address.services;
    peer.peer.through_proxy = IsProxy(endpoint.address);
    if (call.kind == ConnectionKind::kManual) {
        peer.peer.permissions = m_access.WithWhitelist(kPermitNone, &endpoint.address, false);
    }
    m_admit(result.id, std::move(peer),
            call.v2 ? Connections::Speech::kV2 : Connections::Speech::kV1);
}

void OutboundCalls::Retry(const ConnectedPeer& peer)
{
    OutboundCall call;
    call.kind = peer.peer.kind;
    call.destination = peer.destination;
    call.address.endpoint = peer.peer.address;
    call.address.services = peer.peer.services;
    call.added = peer.added;
    call.proxy = peer.proxy;
    (void)Connect(std::move(call));
}

bool OutboundCalls::IsProxy(const NetAddress& address) const
{
    return std::any_of(m_state.ways.proxies.begin(), m_state.ways.proxies.end(),
                       [&](const auto& entry) {
                           return entry.second.IsSet() && entry.second.address.address == address;
                       });
}

void OutboundCalls::ReleaseWaiting()
{
    for (auto& [id, pending] : m_calls) pending.call.over.reset();
}

bool OutboundCalls::AddConnection(const std::string& address, OutboundCall call)
{
    const ConnectionKind kind = call.kind;
    const int same = static_cast<int>(m_state.peers.CountOf(kind) + CountOf(kind));
    if (kind == ConnectionKind::kInbound || kind == ConnectionKind::kManual) return false;
    const OutboundLimits& limits = m_state.limits;
    if (kind == ConnectionKind::kOutboundFullRelay && same >= limits.full_relay) return false;
    if (kind == ConnectionKind::kBlockRelay && same >= limits.block_relay) return false;
    if (AutomaticOutbound() >= limits.all) return false;
    call.destination = address;
    (void)Connect(std::move(call));
    return true;
}

size_t OutboundCalls::CountOf(ConnectionKind kind) const
{
    return static_cast<size_t>(
        std::count_if(m_calls.begin(), m_calls.end(),
                      [&](const auto& entry) { return entry.second.call.kind == kind; }));
}

int OutboundCalls::AutomaticOutbound() const
{
    size_t count = 0;
    for (const auto kind : {ConnectionKind::kOutboundFullRelay, ConnectionKind::kBlockRelay,
                            ConnectionKind::kFeeler, ConnectionKind::kAddrFetch}) {
        count += m_state.peers.CountOf(kind) + CountOf(kind);
    }
    return static_cast<int>(count);
}

bool OutboundCalls::HasAutomatic() const
{
    return std::any_of(m_calls.begin(), m_calls.end(), [](const auto& entry) {
        const ConnectionKind kind = entry.second.call.kind;
        return kind != ConnectionKind::kManual && kind != ConnectionKind::kPrivateBroadcast;
    });
}

size_t OutboundCalls::CountAdded() const
{
    return static_cast<size_t>(std::count_if(
        m_calls.begin(), m_calls.end(), [](const auto& entry) { return entry.second.call.added; }));
}

} // namespace ibd
