// See network_impl.h: automatic connections: executes the plans.
#include "net/address/fixed_seeds.h"
#include "net/network_impl.h"

#include <algorithm>

namespace ibd {

void PeerNetwork::Impl::MakePlans()
{
    SeedOptions seeds;
    seeds.dns = m_at.params.dns_seeds;
    seeds.dns_seed = m_options.dns_seed;
    seeds.force_dns = m_options.force_dns_seed;
    seeds.added_nodes = !m_options.added.empty();
    if (!m_options.connect_only) {
        seeds.nodes = m_options.seed_nodes;
        seeds.fixed_seeds = m_options.fixed_seeds;
        auto anchors = TakeAnchors(Files());
        m_at.log.Info("{} block-relay-only anchors will be tried for connections.", anchors.size());
        const auto is_added = [this](const Endpoint& endpoint) {
            return std::any_of(m_added.begin(), m_added.end(), [&](const Added& added) {
                return added.name == endpoint.ToString() ||
                       added.name == endpoint.address.ToString();
            });
        };
        m_plan.emplace(OutboundSurroundings{
                           *m_addresses, m_options.groups, m_at.log, m_ways.reachable,
                           m_options.peers.log_addresses,
                           [this](const NetAddress& address) { return m_local.Contains(address); },
                           is_added,
                           [this](uint64_t services) { return m_peers.IsDesirable(services); }},
                       m_limits, std::move(anchors), m_chance.Hash(), m_at.now());
    }
    m_seeds.emplace(std::move(seeds), m_at.log, m_chance.Hash(), m_at.env.MonotonicMicros(),
                    m_addresses->Size());
}

void PeerNetwork::Impl::TickOutbound(int64_t now)
{
    if (now < m_next_plan) return;
    m_next_plan = now + kPlanInterval;
    TickSeeds(now);
    if (!m_active || m_interrupted) return;
    CallForAddresses();
    CallNextChoice();
}

/** One at a time, so that each choice knows the result of the previous one. */
void PeerNetwork::Impl::CallNextChoice()
{
    if (!m_plan) return;
    const bool calling = std::any_of(m_calls.begin(), m_calls.end(), [](const auto& entry) {
        return entry.second.call.kind != ConnectionKind::kManual;
    });
    if (calling || AutomaticOutbound() >= m_limits.all + m_extra_block_peers) return;
    OutboundView view;
    view.now = m_at.now();
    view.try_another = m_peers.WantsAnother();
    view.synced = m_peers.IsSynced();
    view.extra_block_relay = m_extra_block_peers;
    for (const auto& [id, link] : m_links) {
        view.peers.push_back({link.peer.kind, link.peer.address.address});
    }
    const auto choice = m_plan->Next(view);
    if (!choice) return;
    Call call;
    call.kind = choice->kind;
    call.address = choice->address;
    call.count_failure = choice->count_failure;
    call.v2 = (choice->address.services & m_options.peers.services & kNodeP2pV2) != 0;
    (void)Connect(std::move(call));
}

// Initial addresses.

bool PeerNetwork::Impl::HasEmptyNetwork() const
{
    if (m_options.connect_only) return false;
    for (const auto network : {AddressNetwork::kIpv4, AddressNetwork::kIpv6, AddressNetwork::kOnion,
                               AddressNetwork::kI2p, AddressNetwork::kCjdns}) {
        if (m_ways.reachable.Contains(network) && m_addresses->Size(network) == 0) return true;
    }
    return false;
}

void PeerNetwork::Impl::TickSeeds(int64_t now)
{
    SeedPlan::View view;
    view.now = now;
    view.active = m_active;
    view.addresses = m_addresses->Size();
    view.full_relay =
        static_cast<int>(m_peers.CountEstablished(ConnectionKind::kOutboundFullRelay));
    view.empty_network = HasEmptyNetwork();
    const SeedPlan::Step step = m_seeds->Next(view);
    for (const std::string& name : step.fetch) FetchFrom(name);
    for (const std::string& seed : step.ask) AskSeed(seed);
    if (step.add_fixed) AddFixedSeeds();
}

void PeerNetwork::Impl::FetchFrom(const std::string& name)
{
    if (m_fetches.size() < kMaxFetches) m_fetches.push_back(name);
}

void PeerNetwork::Impl::CallForAddresses()
{
    if (m_fetches.empty() || AutomaticOutbound() >= m_limits.all) return;
    Call call;
    call.kind = ConnectionKind::kAddrFetch;
    call.destination = std::move(m_fetches.front());
    call.v2 = (m_options.peers.services & kNodeP2pV2) != 0;
    m_fetches.pop_front();
    (void)Connect(std::move(call));
}

void PeerNetwork::Impl::AskSeed(const std::string& seed)
{
    // A proxy connects us to one address of the seed's name, but does not return any.
    const std::string host = fmt::format("x{:x}.{}", kNodeNetwork | kNodeWitness, seed);
    const auto answer = [this, seed, host](std::vector<NetAddress> found) {
        m_inbox.Post(
            [this, seed, host, found = std::move(found)] { TakeSeeds(seed, host, found); });
    };
    if (m_options.name_proxy.IsSet() || !m_resolver.Ask(host, kMaxOfSeed, answer)) {
        m_seeds->Answered(0);
        FetchFrom(seed);
    }
}

void PeerNetwork::Impl::TakeSeeds(const std::string& seed, const std::string& host,
                                  const std::vector<NetAddress>& found)
{
    m_seeds->Answered(found.size());
    // The seed may not support selection by services.
    if (found.empty()) return FetchFrom(seed);
    constexpr int64_t kDay = 24 * 60 * 60;
    const int64_t now = NowSeconds();
    std::vector<PeerAddress> addresses;
    for (const NetAddress& address : found) {
        PeerAddress out;
        out.endpoint = {address, m_at.params.p2p_port};
        out.services = kNodeNetwork | kNodeWitness;
        const auto younger = static_cast<int64_t>(m_chance.Below(4 * kDay));
        out.time = static_cast<uint32_t>(now - 3 * kDay - younger);
        addresses.push_back(out);
    }
    (void)m_addresses->Add(addresses, NetAddress::Internal(host), 0, now);
}

void PeerNetwork::Impl::AddFixedSeeds()
{
    auto seeds = FixedSeeds(m_at.params, m_chance, NowSeconds());
    std::erase_if(seeds, [&](const PeerAddress& seed) {
        const AddressNetwork network = seed.endpoint.address.Network();
        return !m_ways.reachable.Contains(network) || m_addresses->Size(network) != 0;
    });
    for (const PeerAddress& seed : seeds) {
        m_at.log.Debug(LogCategory::kNet, "Added hardcoded seed: {}", seed.endpoint.ToString());
    }
    (void)m_addresses->Add(seeds, NetAddress::Internal("fixedseeds"), 0, NowSeconds());
    m_at.log.Info("Added {} fixed seeds from reachable networks.", seeds.size());
}

} // namespace ibd
