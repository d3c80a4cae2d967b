// See network_impl.h: start, stop, and the rounds of net-msg in between.
#include "net/network_impl.h"

namespace ibd {

namespace {

Hash32 RandomSeed(Env& env)
{
    Hash32 out;
    env.RandomBytes(out);
    return out;
}

SipKey RandomKey(RandomStream& chance) { return {chance.U64(), chance.U64()}; }

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
    : m_at(std::move(surroundings)), m_options(options), m_active(options.active),
      m_chance(RandomSeed(m_at.env)), m_group_key(RandomKey(m_chance)),
      m_bans(RandomKey(m_chance), options.ban_time), m_ways{options.reachable, options.proxies},
      m_local(m_at.log, m_ways.reachable, options.discover && options.listen,
              options.peers.log_addresses),
      m_upload(options.max_upload), m_limits(options.max_connections), m_resolver(SystemLookUp),
      m_connections(m_at.env, m_at.log, SettingsOf(m_at, options), *this),
      m_capture(CaptureOf(m_at, options)),
      m_peers({m_at.env, m_at.log, m_at.params, m_at.chain, m_at.headers, m_at.blocks, *this,
               m_at.now, this, nullptr, m_capture ? &*m_capture : nullptr, m_at.warnings,
               m_at.hints},
              WithLimits(options))
{
    m_bans.Load(options.bans);
}

PeerNetwork::Impl::~Impl() { Stop(); }

AddressFileContext PeerNetwork::Impl::Files() const
{
    return {m_at.env, m_at.log, m_options.folder, m_at.params.magic};
}

Result<> PeerNetwork::Impl::LoadAddresses()
{
    if (m_addresses) return {};
    const AddrManOptions options{m_options.groups, m_options.check_addrman,
                                 m_options.fixed_addrman_key};
    IBD_ASSIGN_OR_RETURN(m_addresses, LoadPeers(Files(), options));
    return {};
}

Result<> PeerNetwork::Impl::Start()
{
    const Lock lock(m_quiet);
    IBD_RETURN_IF_ERROR(LoadAddresses());
    if (m_options.listen) IBD_RETURN_IF_ERROR(Listen());
    FindLocalAddresses();
    m_last_save = m_at.env.MonotonicMicros();
    LogMapHealth();
    for (const std::string& name : m_options.added) {
        (void)AddNode(name, (m_options.peers.services & kNodeP2pV2) != 0);
    }
    MakePlans();
    m_started = true;
    m_inbox.Open();
    m_connections.Start();
    if (m_options.onion_service) MakeOnionService();
    if (m_options.map_port) MakePortMapper();
    TellOfWork();
    m_resolver.Start();
    m_thread = NamedThread("net-msg", [this] { Loop(); });
    return {};
}

Result<> PeerNetwork::Impl::Listen()
{
    const auto fail = [](const Error& error) {
        return SystemError("{}\nFailed to listen on any port. Use -listen=0 if you want this.",
                           error.message);
    };
    for (const Binding& binding : m_options.binds) {
        const auto listening = m_connections.Listen(binding);
        if (!listening) return fail(listening.GetError());
    }
    if (!m_options.bind_any) return {};
    const uint16_t port = m_options.listen_port;
    // A failure is ignored: the user did not ask for IPv6.
    (void)m_connections.Listen({{NetAddress(), port}, kPermitNone, false});
    const auto listening =
        m_connections.Listen({{NetAddress::FromIpv4({0, 0, 0, 0}), port}, kPermitNone, false});
    if (!listening) return fail(listening.GetError());
    return {};
}

void PeerNetwork::Impl::FindLocalAddresses()
{
    for (const Endpoint& endpoint : m_options.external) {
        (void)m_local.Add(endpoint, LocalAddresses::kManual);
    }
    if (!m_options.listen) return;
    for (const Binding& binding : m_options.binds) {
        if (binding.onion || (binding.permissions & kPermitNoBan) == kPermitNoBan) continue;
        (void)m_local.Add(binding.address, LocalAddresses::kBound);
    }
    if (!m_options.discover) return;
    for (const NetAddress& address : InterfaceAddresses()) {
        (void)m_local.Add({address.WithCjdns(m_options.cjdns_reachable), m_options.listen_port},
                          LocalAddresses::kInterface);
    }
}

void PeerNetwork::Impl::MakeOnionService()
{
    const OnionServiceOptions& onion = *m_options.onion_service;
    m_connections.Attach([this, &onion](event_base* base) {
        TorControl::Settings settings{m_at.env,
                                      m_at.log,
                                      base,
                                      onion.control_name,
                                      onion.control,
                                      onion.password,
                                      m_options.folder / "onion_v3_private_key",
                                      onion.target,
                                      m_at.params.p2p_port,
                                      onion.find_proxy};
        TorControl::Events events;
        events.service = [this](const Endpoint& service, bool on) { Reachable(service, on); };
        events.proxy = [this](const Endpoint& socks) {
            m_inbox.Post([this, socks] { UseTor(socks); });
        };
        return std::make_shared<TorControl>(std::move(settings), std::move(events));
    });
}

void PeerNetwork::Impl::MakePortMapper()
{
    m_connections.Attach([this](event_base* base) {
        PortMapper::Settings settings{m_at.env, m_at.log, base, m_options.listen_port};
        settings.gateway = [this](AddressNetwork network) {
            return DefaultGateway(m_at.env, network);
        };
        settings.own_addresses = InterfaceAddresses;
        return std::make_shared<PortMapper>(std::move(settings), [this](const Endpoint& external) {
            m_inbox.Post(
                [this, external] { (void)m_local.Add(external, LocalAddresses::kMapped); });
        });
    });
}

/** Isolates streams, so that peers cannot link them to one node. */
void PeerNetwork::Impl::UseTor(const Endpoint& socks)
{
    m_ways.proxies[AddressNetwork::kOnion] = ProxyServer{socks, {}, true};
    if (m_options.onion_service->may_connect) m_ways.reachable.Add(AddressNetwork::kOnion);
}

void PeerNetwork::Impl::Stop()
{
    Interrupt();
    // No event follows; the last rounds handle the earlier ones.
    m_connections.Stop();
    m_resolver.Stop();
    m_inbox.Wake();
    m_thread.Join();
    m_lines.clear();
    const Lock lock(m_quiet);
    if (std::exchange(m_started, false)) SaveAddresses();
}

void PeerNetwork::Impl::Run(const std::function<void()>& body)
{
    // Shared, as the thread of the peers may still be returning from it when the caller continues.
    const auto task = std::make_shared<std::packaged_task<void()>>(body);
    auto done = task->get_future();
    if (m_inbox.Post([task] { (*task)(); })) return done.wait();
    {
        const Lock lock(m_quiet);
        // The thread may have started while this one waited for the lock.
        if (!m_inbox.Post([task] { (*task)(); })) return body();
    }
    done.wait();
}

void PeerNetwork::Impl::TipChanged(const HeaderNode& tip, const HeaderNode& fork)
{
    {
        const Lock lock(m_tip_mutex);
        // For two pending changes the lower fork is the fork of both.
        const HeaderNode* lower = &fork;
        if (m_new_tip && m_new_tip->fork->height < fork.height) lower = m_new_tip->fork;
        m_new_tip = NewTip{&tip, lower};
    }
    Wake();
}

void PeerNetwork::Impl::TellTip()
{
    std::optional<NewTip> change;
    {
        const Lock lock(m_tip_mutex);
        change.swap(m_new_tip);
    }
    if (change) m_peers.TipChanged(*change->tip, *change->fork);
}

// Core has a thread of its own for each of these; here the two threads of the peers do the work,
// and -dnsseed is done by `net-dns`.
void PeerNetwork::Impl::TellOfWork()
{
    if (m_options.map_port) m_lines.emplace_back(m_at.log, "mapport");
    if (m_options.onion_service) m_lines.emplace_back(m_at.log, "torcontrol");
    if (m_options.dns_seed) m_lines.emplace_back(m_at.log, "dnsseed");
    m_lines.emplace_back(m_at.log, "addcon");
    if (m_plan) m_lines.emplace_back(m_at.log, "opencon");
}

void PeerNetwork::Impl::Loop()
{
    const ThreadLines lines(m_at.log, "msghand");
    bool more = false;
    do {
        for (const auto& task : m_inbox.TakeAll(more ? std::chrono::milliseconds(0) : kRound)) {
            task();
        }
        if (m_interrupted) continue;
        TellTip();
        more = true;
        for (int i = 0; i < kRoundsAtOnce && more; ++i) more = m_peers.Work();
        Tick();
        m_connections.Flush();
    } while (!m_interrupted || !m_inbox.Close());
    ReleaseWaitingCalls();
}

void PeerNetwork::Impl::Tick()
{
    const int64_t now = m_at.env.MonotonicMicros();
    TickNamed(now);
    TickOutbound(now);
    m_upload.Update(m_connections.BytesSent(), NowSeconds());
    if (now - m_last_map_health >= kMapHealthInterval) LogMapHealth();
    if (now - m_last_save < kSaveInterval) return;
    m_last_save = now;
    SavePeersFile();
}

void PeerNetwork::Impl::SavePeersFile()
{
    const int64_t start = m_at.env.MonotonicMicros();
    const auto saved = SavePeers(Files(), *m_addresses);
    if (!saved) return m_at.log.Error("{}", saved.Message());
    m_at.log.Debug(LogCategory::kNet, "Flushed {} addresses to peers.dat {}ms", m_addresses->Size(),
                   (m_at.env.MonotonicMicros() - start) / 1'000);
}

void PeerNetwork::Impl::SaveAddresses()
{
    SavePeersFile();
    if (m_options.connect_only) return;
    std::vector<PeerAddress> anchors;
    for (const auto& [id, link] : m_links) {
        if (link.peer.kind != ConnectionKind::kBlockRelay) continue;
        if (anchors.size() == kMaxAnchors) break;
        PeerAddress anchor;
        anchor.endpoint = link.peer.address;
        anchor.services = link.peer.services;
        anchors.push_back(anchor);
    }
    const auto anchored = SaveAnchors(Files(), anchors);
    if (!anchored) m_at.log.Error("{}", anchored.Message());
}

} // namespace ibd
