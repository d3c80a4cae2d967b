// See automatic_peers.h.
#include "net/automatic_peers.h"

#include "net/address/fixed_seeds.h"

#include <algorithm>

namespace ibd {

void AutomaticPeers::MakePlans()
{
    SeedOptions seeds;
    seeds.dns = m_at.params.dns_seeds;
    seeds.dns_seed = m_options.dns_seed;
    seeds.force_dns = m_options.force_dns_seed;
    seeds.added_nodes = !m_options.added.empty();
    if (!m_options.connect_only) {
        seeds.nodes = m_options.seed_nodes;
        seeds.fixed_seeds = m_options.fixed_seeds;
        auto anchors = TakeAnchors(m_addresses.Files());
        m_at.log.Info("{} block-relay-only anchors will be tried for connections.", anchors.size());
        const auto is_added = [this](const Endpoint& endpoint) {
            return m_named.Contains(endpoint);
        };
        m_plan.emplace(
            OutboundSurroundings{
                m_addresses.Others(), m_options.groups, m_at.log, m_state.ways.reachable,
                m_options.peers.log_addresses,
                [this](const NetAddress& address) { return m_addresses.Own().Contains(address); },
                is_added, [this](uint64_t services) { return m_peers.IsDesirable(services); }},
            m_state.limits, std::move(anchors), m_state.chance.Hash(), m_at.now());
    }
    m_seeds.emplace(std::move(seeds), m_at.log, m_state.chance.Hash(), m_at.env.MonotonicMicros(),
                    m_addresses.Others().Size());
}

void AutomaticPeers::Tick(int64_t now)
{
    if (now < m_next_plan) return;
    m_next_plan = now + kPlanInterval;
    TickSeeds(now);
    if (!m_state.MayConnect()) return;
    CallForAddresses();
    CallNextChoice();
}

/** One at a time, so that each choice knows the result of the previous one. */
void AutomaticPeers::CallNextChoice()
{
    if (!m_plan) return;
    const int most = m_state.limits.all + m_extra_block_peers;
    if (m_calls.HasAutomatic() || m_calls.AutomaticOutbound() >= most) return;
    OutboundView view;
    view.now = m_at.now();
    view.try_another = m_peers.WantsAnother();
    view.synced = m_peers.IsSynced();
    view.extra_block_relay = m_extra_block_peers;
    for (const auto& [id, link] : m_state.peers.All()) {
        view.peers.push_back({link.peer.kind, link.peer.address.address});
    }
    const auto choice = m_plan->Next(view);
    if (!choice) return;
    OutboundCall call;
    call.kind = choice->kind;
    call.address = choice->address;
    call.count_failure = choice->count_failure;
    call.v2 = (choice->address.services & m_options.peers.services & kNodeP2pV2) != 0;
    (void)m_calls.Connect(std::move(call));
}

// Initial addresses.

bool AutomaticPeers::HasEmptyNetwork() const
{
    if (m_options.connect_only) return false;
    for (const auto network : {AddressNetwork::kIpv4, AddressNetwork::kIpv6, AddressNetwork::kOnion,
                               AddressNetwork::kI2p, AddressNetwork::kCjdns}) {
        if (!m_state.ways.reachable.Contains(network)) continue;
        if (m_addresses.Others().Size(network) == 0) return true;
    }
    return false;
}

void AutomaticPeers::TickSeeds(int64_t now)
{
    SeedPlan::View view;
    view.now = now;
    view.active = m_state.active;
    view.addresses = m_addresses.Others().Size();
    view.full_relay =
        static_cast<int>(m_peers.CountEstablished(ConnectionKind::kOutboundFullRelay));
    view.empty_network = HasEmptyNetwork();
    const SeedPlan::Step step = m_seeds->Next(view);
    for (const std::string& name : step.fetch) FetchFrom(name);
    for (const std::string& seed : step.ask) AskSeed(seed);
    if (step.add_fixed) AddFixedSeeds();
}

void AutomaticPeers::FetchFrom(const std::string& name)
{
    if (m_fetches.size() < kMaxFetches) m_fetches.push_back(name);
}

void AutomaticPeers::CallForAddresses()
{
    if (m_fetches.empty() || m_calls.AutomaticOutbound() >= m_state.limits.all) return;
    OutboundCall call;
    call.kind = ConnectionKind::kAddrFetch;
    call.destination = std::move(m_fetches.front());
    call.v2 = (m_options.peers.services & kNodeP2pV2) != 0;
    m_fetches.pop_front();
    (void)m_calls.Connect(std::move(call));
}

void AutomaticPeers::AskSeed(const std::string& seed)
{
    // A proxy connects us to one address of the seed's name, but does not return any.
    const std::string host = fmt::format("x{:x}.{}", kNodeNetwork | kNodeWitness, seed);
    const auto answer = [this, seed, host](std::vector<NetAddress> found) {
        m_state.thread.Post(
            [this, seed, host, found = std::move(found)] { TakeSeeds(seed, host, found); });
    };
    if (m_options.name_proxy.IsSet() || !m_resolver.Ask(host, kMaxOfSeed, answer)) {
        m_seeds->Answered(0);
        FetchFrom(seed);
    }
}

void AutomaticPeers::TakeSeeds(const std::string& seed, const std::string& host,
                               const std::vector<NetAddress>& found)
{
    m_seeds->Answered(found.size());
    // The seed may not support selection by services.
    if (found.empty()) return FetchFrom(seed);
    constexpr int64_t kDay = 24 * 60 * 60;
    const int64_t now = m_state.NowSeconds();
    std::vector<PeerAddress> addresses;
    for (const NetAddress& address : found) {
        PeerAddress out;
        out.endpoint = {address, m_at.params.p2p_port};
        out.services = kNodeNetwork | kNodeWitness;
        const auto younger = static_cast<int64_t>(m_state.chance.Below(4 * kDay));
        out.time = static_cast<uint32_t>(now - 3 * kDay - younger);
        addresses.push_back(out);
    }
    (void)m_addresses.Others().Add(addresses, NetAddress::Internal(host), 0, now);
}

void AutomaticPeers::AddFixedSeeds()
{
    auto seeds = FixedSeeds(m_at.params, m_state.chance, m_state.NowSeconds());
    std::erase_if(seeds, [&](const PeerAddress& seed) {
        const AddressNetwork network = seed.endpoint.address.Network();
        return !m_state.ways.reachable.Contains(network) || m_addresses.Others().Size(network) != 0;
    });
    for (const PeerAddress& seed : seeds) {
        m_at.log.Debug(LogCategory::kNet, "Added hardcoded seed: {}", seed.endpoint.ToString());
    }
    (void)m_addresses.Others().Add(seeds, NetAddress::Internal("fixedseeds"), 0,
                                   m_state.NowSeconds());
    m_at.log.Info("Added {} fixed seeds from reachable networks.", seeds.size());
}

} // namespace ibd
