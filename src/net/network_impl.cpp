// See network_impl.h.
#include "net/network_impl.h"

namespace ibd {

namespace {

PeerOptions WithLimits(const PeerNetworkOptions& options)
{
    const OutboundLimits limits(options.max_connections);
    PeerOptions out = options.peers;
    out.max_full_relay = static_cast<size_t>(limits.full_relay);
    out.max_block_relay = static_cast<size_t>(limits.block_relay);
    out.may_want_more = !options.connect_only;
    return out;
}

ConnectionSettings SettingsOf(const PeerNetworkSurroundings& at, const PeerNetworkOptions& options)
{
    ConnectionSettings out;
    out.magic = at.params.magic;
    out.max_send = options.max_send_buffer;
    out.max_receive = options.max_receive_buffer;
    out.connect_milliseconds = options.connect_milliseconds;
    out.log_addresses = options.peers.log_addresses;
    out.cjdns_reachable = options.cjdns_reachable;
    out.i2p_bridge = options.i2p_bridge;
    if (options.i2p_accept && options.i2p_bridge.address.IsValid()) {
        out.i2p_key = options.folder / "i2p_private_key";
    }
    out.now = at.now;
    return out;
}

std::optional<MessageCapture> CaptureOf(const PeerNetworkSurroundings& at,
                                        const PeerNetworkOptions& options)
{
    if (!options.capture_messages) return std::nullopt;
    return MessageCapture(at.env, at.log, options.folder / "message_capture");
}

} // namespace

PeerNetwork::Impl::Impl(PeerNetworkSurroundings surroundings, const PeerNetworkOptions& options)
    : m_state(std::move(surroundings), options), m_access(m_state), m_addresses(m_state, m_access),
      m_resolver(SystemLookUp), m_connections(m_at.env, m_at.log, SettingsOf(m_at, options), *this),
      m_link(m_state, m_access, m_connections), m_capture(CaptureOf(m_at, options)),
      m_peers({m_at.env, m_at.log, m_at.params, m_at.chain, m_at.headers, m_at.blocks, m_link,
               m_at.now, &m_addresses, m_at.pool, m_capture ? &*m_capture : nullptr, m_at.warnings,
               m_at.hints, m_at.pool, m_at.filters, &m_state.lacks_history},
              WithLimits(options)),
      m_ways(m_state, m_addresses, m_connections), m_inbound(m_state, m_access, m_peers),
      m_calls(m_state, m_access, m_addresses, m_connections, m_resolver,
              [this](SocketId socket, ConnectedPeer peer, Connections::Speech speech) {
                  Admit(socket, std::move(peer), speech);
              }),
      m_named(m_state, m_calls),
      m_automatic(m_state, m_addresses, m_named, m_calls, m_resolver, m_peers),
      m_private(m_state, m_addresses, m_calls, m_peers.Private()),
      m_interfaces{{m_state, m_peers, m_connections, m_link, m_addresses},
                   {m_state, m_peers, m_calls, m_named},
                   {m_state, m_peers, m_access},
                   {m_state, m_addresses},
                   {m_state, m_peers, m_automatic},
                   {m_state, m_peers},
                   {m_state, m_peers}}
{
}

PeerNetwork::Impl::~Impl() { Stop(); }

Result<> PeerNetwork::Impl::Start()
{
    return m_state.thread.WithoutThread([this]() -> Result<> {
        IBD_RETURN_IF_ERROR(Prepare());
        m_state.started = true;
        m_state.thread.Open();
        m_connections.Start();
        m_ways.Start();
        LogStartOfWork();
        m_resolver.Start();
        m_state.thread.Start({[this] { return Round(); }, [this] { m_calls.ReleaseWaiting(); }});
        return {};
    });
}

Result<> PeerNetwork::Impl::Prepare()
{
    IBD_RETURN_IF_ERROR(LoadAddresses());
    if (m_options.listen) IBD_RETURN_IF_ERROR(m_ways.Listen());
    m_addresses.Start();
    for (const std::string& name : m_options.added) {
        (void)m_named.Add(name, (m_options.peers.services & kNodeP2pV2) != 0);
    }
    m_automatic.MakePlans();
    return {};
}

void PeerNetwork::Impl::Stop()
{
    Interrupt();
    // No event follows; the last rounds handle the earlier events.
    m_connections.Stop();
    m_resolver.Stop();
    m_state.thread.Join();
    m_lines.clear();
    m_state.thread.WithoutThread([this] {
        if (std::exchange(m_state.started, false)) m_addresses.Save();
    });
}

void PeerNetwork::Impl::TipChanged(const HeaderNode& tip, const HeaderNode& fork)
{
    m_tip.Put(tip, fork);
    Wake();
}

// Core has a thread of its own for each of these; here the two threads of the peers do the work,
// and -dnsseed is done by `net-dns`.
void PeerNetwork::Impl::LogStartOfWork()
{
    if (m_options.map_port) m_lines.emplace_back(m_at.log, "mapport");
    if (m_options.onion_service) m_lines.emplace_back(m_at.log, "torcontrol");
    if (m_options.dns_seed) m_lines.emplace_back(m_at.log, "dnsseed");
    m_lines.emplace_back(m_at.log, "addcon");
    if (m_automatic.HasPlan()) m_lines.emplace_back(m_at.log, "opencon");
    if (m_options.private_broadcast) m_lines.emplace_back(m_at.log, "privbcast");
}

bool PeerNetwork::Impl::Round()
{
    if (const auto change = m_tip.Take()) m_peers.TipChanged(*change->tip, *change->fork);
    const int64_t end = m_at.env.MonotonicMicros() + PeerManager::kWorkTime;
    bool more = true;
    for (int i = 0; i < kRoundsAtOnce && more; ++i) {
        more = m_peers.Work();
        if (m_at.env.MonotonicMicros() >= end) break;
    }
    Tick();
    m_connections.Flush();
    return more;
}

void PeerNetwork::Impl::Tick()
{
    const int64_t now = m_at.env.MonotonicMicros();
    m_named.Tick(now);
    m_automatic.Tick(now);
    m_private.Tick(now);
    m_link.UpdateUpload();
    m_addresses.Tick(now);
}

// Events of the sockets.

void PeerNetwork::Impl::Accepted(Caller caller)
{
    m_state.thread.Post([this, caller] { HandleAccepted(caller); });
}

void PeerNetwork::Impl::HandleAccepted(const Caller& caller)
{
    auto peer = m_inbound.Admit(caller);
    if (!peer) return m_connections.Refuse(caller.id);
    Admit(caller.id, std::move(*peer),
          m_options.peers.services & kNodeP2pV2 ? Connections::Speech::kEither
                                                : Connections::Speech::kV1);
    m_at.log.Debug(LogCategory::kNet, "connection from {} accepted", caller.remote.ToString());
}

void PeerNetwork::Impl::Admit(SocketId socket, ConnectedPeer peer, Connections::Speech speech)
{
    const NewPeer& admitted = m_state.peers.Add(std::move(peer)).peer;
    m_connections.Admit(socket, admitted, speech);
    m_peers.Connected(admitted);
}

void PeerNetwork::Impl::Dialled(DialResult result)
{
    m_state.thread.Post([this, result = std::move(result)] { m_calls.Dialled(result); });
}

void PeerNetwork::Impl::Received(PeerId peer, std::vector<ReceivedMessage> messages)
{
    m_state.thread.Post([this, peer, messages = std::move(messages)]() mutable {
        for (ReceivedMessage& message : messages) m_peers.Received(peer, std::move(message));
    });
}

void PeerNetwork::Impl::Closed(PeerId peer, bool speaks_v1)
{
    m_state.thread.Post([this, peer, speaks_v1] { HandleClosed(peer, speaks_v1); });
}

void PeerNetwork::Impl::HandleClosed(PeerId id, bool speaks_v1)
{
    const ConnectedPeer peer = m_state.peers.Take(id);
    m_peers.Disconnected(id);
    m_connections.Forget(id);
    if (!speaks_v1 || !m_state.MayConnect()) return;
    m_at.log.Debug(LogCategory::kNet, "retrying with v1 transport protocol for peer={}", id);
    m_calls.Retry(peer);
}

} // namespace ibd
