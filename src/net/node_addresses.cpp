// See node_addresses.h.
#include "net/node_addresses.h"

#include <algorithm>
#include <set>

namespace ibd {

NodeAddresses::NodeAddresses(NetworkState& state, const AccessRules& access)
    : m_state(state), m_access(access),
      m_own(m_at.log, state.ways.reachable, m_options.discover && m_options.listen,
            m_options.peers.log_addresses)
{
}

AddressFileContext NodeAddresses::Files() const
{
    return {m_at.env, m_at.log, m_options.folder, m_at.params.magic};
}

Result<> NodeAddresses::Load()
{
    if (m_others) return {};
    const AddrManOptions options{m_options.groups, m_options.check_addrman,
                                 m_options.fixed_addrman_key};
    IBD_ASSIGN_OR_RETURN(m_others, LoadPeers(Files(), options));
    return {};
}

void NodeAddresses::Start()
{
    FindOwn();
    LogMapHealth();
}

void NodeAddresses::FindOwn()
{
    for (const Endpoint& endpoint : m_options.external) {
        (void)m_own.Add(endpoint, LocalAddresses::kManual);
    }
    if (!m_options.listen) return;
    for (const Binding& binding : m_options.binds) {
        if (binding.onion || (binding.permissions & kPermitNoBan) == kPermitNoBan) continue;
        (void)m_own.Add(binding.address, LocalAddresses::kBound);
    }
    if (!m_options.discover) return;
    for (const NetAddress& address : InterfaceAddresses()) {
        (void)m_own.Add({address.WithCjdns(m_options.cjdns_reachable), m_options.listen_port},
                        LocalAddresses::kInterface);
    }
}

Bytes NodeAddresses::PeersFileNow() const { return PeersFile(m_at.params.magic, *m_others); }

void NodeAddresses::WritePeersFile(ByteSpan file, size_t addresses) const
{
    const int64_t start = m_at.env.MonotonicMicros();
    const auto saved = SavePeers(Files(), file);
    if (!saved) return m_at.log.Error("{}", saved.Message());
    m_at.log.Debug(LogCategory::kNet, "Flushed {} addresses to peers.dat {}ms", addresses,
                   (m_at.env.MonotonicMicros() - start) / 1'000);
}

void NodeAddresses::Save()
{
    WritePeersFile(PeersFileNow(), m_others->Size());
    if (m_options.connect_only) return;
    std::vector<PeerAddress> anchors;
    for (const auto& [id, link] : m_state.peers.All()) {
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

void NodeAddresses::Tick(int64_t now)
{
    if (now - m_last_map_health >= kMapHealthInterval) LogMapHealth();
}

std::vector<PeerAddress> NodeAddresses::Known(size_t count, std::optional<AddressNetwork> network,
                                              size_t percent) const
{
    auto out = m_others->GetAddresses(count, percent, network, m_state.NowSeconds());
    std::erase_if(out,
                  [&](const PeerAddress& address) { return IsUnwanted(address.endpoint.address); });
    return out;
}

AddAddressResult NodeAddresses::Add(const Endpoint& endpoint, bool tried)
{
    const int64_t now = m_state.NowSeconds();
    PeerAddress address;
    address.endpoint = endpoint;
    address.services = kNodeNetwork | kNodeWitness;
    address.time = static_cast<uint32_t>(now);
    if (!m_others->Add({address}, endpoint.address, 0, now)) {
        return AddAddressResult::kNotAddedToNew;
    }
    if (tried && !m_others->Good(endpoint, now)) return AddAddressResult::kNotAddedToTried;
    return AddAddressResult::kOk;
}

/** Logs the part of the known addresses that the -asmap file maps: an old map protects less. */
void NodeAddresses::LogMapHealth()
{
    m_last_map_health = m_at.env.MonotonicMicros();
    if (!m_options.groups.UsesAsmap()) return;
    std::set<uint32_t> systems;
    size_t known = 0, unmapped = 0;
    for (const auto network : {AddressNetwork::kIpv4, AddressNetwork::kIpv6}) {
        for (const PeerAddress& peer : m_others->GetAddresses(0, 0, network, 0, false)) {
            const uint32_t system = m_options.groups.MappedAs(peer.endpoint.address);
            ++known;
            system == 0 ? (void)++unmapped : (void)systems.insert(system);
        }
    }
    m_at.log.Info("ASMap Health Check: {} clearnet peers are mapped to {} ASNs with {} peers being "
                  "unmapped",
                  known, systems.size(), unmapped);
}

void NodeAddresses::Heard(const std::vector<PeerAddress>& addresses, const NetAddress& source,
                          int64_t penalty)
{
    (void)m_others->Add(addresses, source, penalty, m_state.NowSeconds());
}

void NodeAddresses::Good(const Endpoint& endpoint)
{
    (void)m_others->Good(endpoint, m_state.NowSeconds());
}

void NodeAddresses::SetServices(const Endpoint& endpoint, uint64_t services)
{
    m_others->SetServices(endpoint, services);
}

void NodeAddresses::Connected(const Endpoint& endpoint)
{
    m_others->Connected(endpoint, m_state.NowSeconds());
}

bool NodeAddresses::IsReachable(const NetAddress& address) const
{
    return m_state.ways.reachable.Contains(address.Network());
}

// Several or repeated requests reveal no more than one: answers depend only on the network of the
// connection and on our address that it reached.
std::vector<PeerAddress> NodeAddresses::Answer(const NewPeer& asker, bool trusted)
{
    if (trusted) return Known(kMaxAddresses, std::nullopt, kAnswerPercent);
    Bytes key = asker.local.Key();
    key.push_back(static_cast<uint8_t>(asker.Network()));
    const int64_t now = m_state.NowSeconds();
    if (m_answers.size() >= kMaxAnswers && !m_answers.contains(key)) m_answers.clear();
    CachedAnswer& answer = m_answers[key];
    if (answer.until < now) {
        constexpr int64_t kHour = 60 * 60;
        answer.addresses = Known(kMaxAddresses, std::nullopt, kAnswerPercent);
        answer.until = now + 21 * kHour + static_cast<int64_t>(m_state.chance.Below(6 * kHour));
    }
    return answer.addresses;
}

void NodeAddresses::SeenAs(const Endpoint& endpoint)
{
    if (endpoint.address.IsRoutable()) m_own.Seen(endpoint.address);
}

std::optional<Endpoint> NodeAddresses::OwnAddressFor(const NewPeer& peer, const Endpoint& seen_as)
{
    const NetAddress& host = peer.address.address;
    std::optional<Endpoint> best;
    if (m_options.listen) best = m_own.BestFor(host, peer.Network());
    const bool usable = m_options.discover && host.IsRoutable() && seen_as.address.IsRoutable() &&
                        IsReachable(seen_as.address);
    // Sometimes uses the peer's view of our address, more often if our own is uncertain.
    const bool sure = best && m_own.ScoreOf(best->address) > LocalAddresses::kManual;
    if (usable && (!best || m_state.chance.Below(sure ? 8 : 2) == 0)) {
        // An outbound peer does not see our listening port.
        const uint16_t port = best ? best->port : m_options.listen_port;
        best = peer.kind == ConnectionKind::kInbound ? seen_as : Endpoint{seen_as.address, port};
    }
    if (best && !best->address.IsRoutable()) return std::nullopt;
    return best;
}

} // namespace ibd
