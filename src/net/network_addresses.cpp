// See network_impl.h: exchange of addresses with peers and the user.
#include "net/network_impl.h"

#include <algorithm>
#include <set>

namespace ibd {

std::vector<PeerAddress> PeerNetwork::Impl::KnownAddresses(size_t count,
                                                           std::optional<AddressNetwork> network,
                                                           size_t percent)
{
    auto out = m_addresses->GetAddresses(count, percent, network, NowSeconds());
    std::erase_if(out,
                  [&](const PeerAddress& address) { return IsUnwanted(address.endpoint.address); });
    return out;
}

PeerNetwork::AddResult PeerNetwork::Impl::AddPeerAddress(const Endpoint& endpoint, bool tried)
{
    const int64_t now = NowSeconds();
    PeerAddress address;
    address.endpoint = endpoint;
    address.services = kNodeNetwork | kNodeWitness;
    address.time = static_cast<uint32_t>(now);
    if (!m_addresses->Add({address}, endpoint.address, 0, now)) return AddResult::kNotAddedToNew;
    if (tried && !m_addresses->Good(endpoint, now)) return AddResult::kNotAddedToTried;
    return AddResult::kOk;
}

/** Logs the part of the known addresses that the -asmap file maps: an old map protects less. */
void PeerNetwork::Impl::LogMapHealth()
{
    m_last_map_health = m_at.env.MonotonicMicros();
    if (!m_options.groups.UsesAsmap()) return;
    std::set<uint32_t> systems;
    size_t known = 0, unmapped = 0;
    for (const auto network : {AddressNetwork::kIpv4, AddressNetwork::kIpv6}) {
        for (const PeerAddress& peer : m_addresses->GetAddresses(0, 0, network, 0, false)) {
            const uint32_t system = m_options.groups.MappedAs(peer.endpoint.address);
            ++known;
            system == 0 ? (void)++unmapped : (void)systems.insert(system);
        }
    }
    m_at.log.Info("ASMap Health Check: {} clearnet peers are mapped to {} ASNs with {} peers being "
                  "unmapped",
                  known, systems.size(), unmapped);
}

void PeerNetwork::Impl::Heard(const std::vector<PeerAddress>& addresses, const NetAddress& source,
                              int64_t penalty)
{
    (void)m_addresses->Add(addresses, source, penalty, NowSeconds());
}

void PeerNetwork::Impl::Good(const Endpoint& endpoint)
{
    (void)m_addresses->Good(endpoint, NowSeconds());
}

void PeerNetwork::Impl::SetServices(const Endpoint& endpoint, uint64_t services)
{
    m_addresses->SetServices(endpoint, services);
}

void PeerNetwork::Impl::Connected(const Endpoint& endpoint)
{
    m_addresses->Connected(endpoint, NowSeconds());
}

bool PeerNetwork::Impl::IsUnwanted(const NetAddress& address) const
{
    return m_bans.IsDiscouraged(address) || m_bans.IsBanned(address, NowSeconds());
}

bool PeerNetwork::Impl::IsReachable(const NetAddress& address) const
{
    return m_ways.reachable.Contains(address.Network());
}

// Several or repeated requests reveal no more than one: answers depend only on the network of the
// connection and on our address that it reached.
std::vector<PeerAddress> PeerNetwork::Impl::Answer(const NewPeer& asker, bool trusted)
{
    if (trusted) return KnownAddresses(kMaxAddresses, std::nullopt, kAnswerPercent);
    Bytes key = asker.local.Key();
    key.push_back(static_cast<uint8_t>(asker.Network()));
    const int64_t now = NowSeconds();
    if (m_answers.size() >= kMaxAnswers && !m_answers.contains(key)) m_answers.clear();
    CachedAnswer& answer = m_answers[key];
    if (answer.until < now) {
        constexpr int64_t kHour = 60 * 60;
        answer.addresses = KnownAddresses(kMaxAddresses, std::nullopt, kAnswerPercent);
        answer.until = now + 21 * kHour + static_cast<int64_t>(m_chance.Below(6 * kHour));
    }
    return answer.addresses;
}

void PeerNetwork::Impl::Reachable(const Endpoint& own, bool on)
{
    m_inbox.Post([this, own, on] {
        if (on) {
            (void)m_local.Add(own, LocalAddresses::kManual);
        } else {
            m_local.Remove(own.address);
        }
    });
}

void PeerNetwork::Impl::SeenAs(const Endpoint& endpoint)
{
    if (endpoint.address.IsRoutable()) m_local.Seen(endpoint.address);
}

std::optional<Endpoint> PeerNetwork::Impl::OwnAddressFor(const NewPeer& peer,
                                                         const Endpoint& seen_as)
{
    const NetAddress& host = peer.address.address;
    std::optional<Endpoint> best;
    if (m_options.listen) best = m_local.BestFor(host, peer.Network());
    const bool usable = m_options.discover && host.IsRoutable() && seen_as.address.IsRoutable() &&
                        IsReachable(seen_as.address);
    // The peer's view may be better, with a higher probability if our own is uncertain.
    const bool sure = best && m_local.ScoreOf(best->address) > LocalAddresses::kManual;
    if (usable && (!best || m_chance.Below(sure ? 8 : 2) == 0)) {
        // An outbound peer does not see our listening port.
        const uint16_t port = best ? best->port : m_options.listen_port;
        best = peer.kind == ConnectionKind::kInbound ? seen_as : Endpoint{seen_as.address, port};
    }
    if (best && !best->address.IsRoutable()) return std::nullopt;
    return best;
}

} // namespace ibd
