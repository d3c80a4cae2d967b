// Choice of the next connection, times of requests for addresses, and eviction.
#include "net/address/fixed_seeds.h"
#include "net/address/seed_plan.h"
#include "net/peer/eviction.h"
#include "net/peer/outbound_plan.h"

#include "support/testdata.h"

#include <set>

#include "support/catch.h"

namespace ibd {

namespace {

constexpr int64_t kNow = 1'700'000'000;
constexpr int64_t kMicros = 1'000'000;

PeerAddress Known(const std::string& text, uint64_t services = kNodeNetwork | kNodeWitness)
{
    PeerAddress out;
    out.endpoint = *Endpoint::Parse(text, 8333);
    out.services = services;
    out.time = static_cast<uint32_t>(kNow - 100);
    return out;
}

struct PlanKit {
    NetGroups groups;
    std::unique_ptr<Logger> log = MakeNullLogger();
    AddrMan addresses{groups, Hash32{1}, *log};
    const NetworkSet reachable{AddressNetwork::kIpv4, AddressNetwork::kIpv6};
    std::set<std::string> added;
    std::optional<OutboundPlan> plan;
    OutboundView view;

    explicit PlanKit(int connections = 125, std::vector<PeerAddress> anchors = {})
    {
        view.now = kNow * kMicros;
        plan.emplace(
            OutboundSurroundings{
                addresses,
                groups,
                *log,
                reachable,
                false,
                [](const NetAddress& address) { return address == *NetAddress::Parse("3.3.3.3"); },
                [this](const Endpoint& endpoint) { return added.contains(endpoint.ToString()); },
                [](uint64_t services) { return (services & kNodeWitness) != 0; }},
            OutboundLimits(connections), std::move(anchors), Hash32{2}, view.now);
    }
    void Learn(const std::string& text, uint64_t services = kNodeNetwork | kNodeWitness)
    {
        const PeerAddress address = Known(text, services);
        (void)addresses.Add({address}, address.endpoint.address, 0, kNow);
    }
    /** Connects to each chosen address, until none is chosen. */
    std::map<ConnectionKind, int> Fill()
    {
        std::map<ConnectionKind, int> out;
        while (const auto choice = plan->Next(view)) {
            ++out[choice->kind];
            view.peers.push_back({choice->kind, choice->address.endpoint.address});
        }
        return out;
    }
};

} // namespace

TEST_CASE("slots are filled with peers of different groups", "[outbound_plan]")
{
    PlanKit kit;
    CHECK_FALSE(kit.plan->Next(kit.view)); // no address is known
    for (int group = 1; group < 40; ++group) {
        for (int i = 1; i < 4; ++i) kit.Learn(fmt::format("8.{}.1.{}", group, i));
    }
    auto kinds = kit.Fill();
    CHECK(kinds[ConnectionKind::kOutboundFullRelay] == 8);
    CHECK(kinds[ConnectionKind::kBlockRelay] == 2);
    CHECK(kinds.size() == 2);
    std::set<Bytes> groups;
    for (const OutboundPeer& peer : kit.view.peers) groups.insert(kit.groups.GroupOf(peer.address));
    CHECK(groups.size() == 10);

    kit.view.extra_block_relay = 3;
    CHECK(kit.Fill()[ConnectionKind::kBlockRelay] == 3);
    kit.view.try_another = true;
    const auto another = kit.plan->Next(kit.view);
    REQUIRE(another);
    CHECK(another->kind == ConnectionKind::kOutboundFullRelay);
    CHECK(another->count_failure);
    kit.view.try_another = false;

    // Much later it is time for a feeler, and once synced for one more to hear headers from.
    kit.view.now += 24 * 3600 * kMicros;
    CHECK(kit.plan->Next(kit.view)->kind == ConnectionKind::kFeeler);
    CHECK_FALSE(kit.plan->Next(kit.view));
    kit.view.now += 24 * 3600 * kMicros;
    kit.view.synced = true;
    CHECK(kit.plan->Next(kit.view)->kind == ConnectionKind::kBlockRelay);
}

TEST_CASE("few connections mean few of each kind", "[outbound_plan]")
{
    const auto limits = [](int connections) {
        const OutboundLimits out(connections);
        return std::vector<int>{out.full_relay, out.block_relay, out.all, out.inbound};
    };
    CHECK(limits(125) == std::vector<int>{8, 2, 11, 114});
    CHECK(limits(11) == std::vector<int>{8, 2, 11, 0});
    CHECK(limits(9) == std::vector<int>{8, 1, 9, 0});
    CHECK(limits(3) == std::vector<int>{3, 0, 3, 0});
    CHECK(limits(0) == std::vector<int>{0, 0, 0, 0});
    PlanKit kit(3);
    for (int group = 1; group < 40; ++group) kit.Learn(fmt::format("8.{}.1.1", group));
    CHECK(kit.Fill() == std::map<ConnectionKind, int>{{ConnectionKind::kOutboundFullRelay, 3}});
}

TEST_CASE("addresses that are not chosen for a connection", "[outbound_plan]")
{
    const std::string refused =
        GENERATE("3.3.3.3:8333", "8.1.1.1:22", "9.9.9.9:8333", "[fc00::1]:8333");
    PlanKit kit;
    kit.added = {"9.9.9.9:8333"};
    kit.Learn(refused);
    for (int i = 0; i < 10; ++i) {
        const auto choice = kit.plan->Next(kit.view);
        // A bad port is taken when there is nothing else, in half of all tries.
        if (choice) CHECK(choice->address.endpoint.port == 22);
    }
    PlanKit useless;
    useless.Learn("8.1.1.1", kNodeNetwork);
    CHECK_FALSE(useless.plan->Next(useless.view));
}

TEST_CASE("anchors come first, those of no use are left out", "[outbound_plan]")
{
    PlanKit kit(125, {Known("8.8.8.8"), Known("3.3.3.3"), Known("8.9.8.8", kNodeNone)});
    kit.Learn("9.1.1.1");
    const auto first = kit.plan->Next(kit.view);
    REQUIRE(first);
    CHECK(first->kind == ConnectionKind::kBlockRelay);
    CHECK(first->address.endpoint.ToString() == "8.8.8.8:8333");
    CHECK_FALSE(first->count_failure);
    kit.view.peers.push_back({first->kind, first->address.endpoint.address});
    const auto second = kit.plan->Next(kit.view);
    REQUIRE(second);
    CHECK(second->kind == ConnectionKind::kOutboundFullRelay);
}

TEST_CASE("when DNS, nodes and fixed seeds are asked", "[seed_plan]")
{
    const auto log = MakeNullLogger();
    SeedOptions options;
    options.dns = {"a", "b", "c", "d"};
    SeedPlan::View view;

    // No address is known: all at once.
    SeedPlan empty(options, *log, Hash32{}, 0, 0);
    std::set<std::string> asked;
    for (int i = 0; i < 4; ++i) {
        for (const std::string& seed : empty.Next(view).ask) asked.insert(seed);
    }
    CHECK(asked == std::set<std::string>{"a", "b", "c", "d"});
    CHECK(empty.Next(view).ask.empty());

    // Some are: they get a chance first, and then three are asked.
    view.addresses = 10;
    SeedPlan some(options, *log, Hash32{}, 0, 10);
    size_t count = 0;
    const auto run = [&](SeedPlan& plan, int64_t until) {
        for (; view.now <= until; view.now += kMicros / 2) {
            const auto step = plan.Next(view);
            count += step.ask.size();
            for (size_t i = 0; i < step.ask.size(); ++i) plan.Answered(0);
        }
    };
    run(some, 10 * kMicros);
    CHECK(count == 0);
    run(some, 14 * kMicros);
    CHECK(count == 3);
    view.full_relay = 2;
    run(some, 100 * kMicros);
    CHECK(count == 3); // enough

    // Named nodes come before.
    options.nodes = {"x", "y"};
    view = {};
    SeedPlan nodes(options, *log, Hash32{}, 0, 0);
    CHECK(nodes.Next(view).fetch.size() == 1);
    view.now = 9 * kMicros;
    CHECK(nodes.Next(view).fetch.empty());
    view.now = 11 * kMicros;
    CHECK(nodes.Next(view).fetch.empty());
    CHECK(nodes.Next(view).fetch.size() == 1);
    CHECK(nodes.Next(view).ask.empty());
    view.now = 31 * kMicros;
    CHECK(nodes.Next(view).ask.size() == 1);

    // Fixed ones after a minute, or at once if there is nothing else.
    view.empty_network = true;
    CHECK_FALSE(nodes.Next(view).add_fixed);
    view.now = 61 * kMicros;
    CHECK(nodes.Next(view).add_fixed);
    CHECK_FALSE(nodes.Next(view).add_fixed);
    SeedOptions none;
    none.dns_seed = false;
    SeedPlan alone(none, *log, Hash32{}, 0, 0);
    view.now = 0;
    CHECK(alone.Next(view).add_fixed);
    none.fixed_seeds = false;
    SeedPlan never(none, *log, Hash32{}, 0, 0);
    view.now = 100 * kMicros;
    CHECK_FALSE(never.Next(view).add_fixed);
}

TEST_CASE("the fixed seeds of every network can be read", "[seed_plan]")
{
    RandomStream chance(Hash32{});
    for (const Network network : {Network::kMain, Network::kTestnet3, Network::kTestnet4,
                                  Network::kSignet, Network::kRegtest}) {
        const auto seeds = FixedSeeds(MakeChainParams(network), chance, kNow);
        CHECK((seeds.size() > 10) == (network != Network::kRegtest));
        for (const PeerAddress& seed : seeds) {
            CHECK(seed.endpoint.address.IsRoutable());
            CHECK(seed.time <= kNow - 7 * 24 * 3600);
            CHECK(seed.time > kNow - 15 * 24 * 3600);
        }
    }
}

namespace {

std::vector<EvictionCandidate> Candidates(int count)
{
    std::vector<EvictionCandidate> out;
    for (int i = 0; i < count; ++i) {
        EvictionCandidate candidate;
        candidate.id = i;
        candidate.connected = kNow + i;
        candidate.ping_shortest = 1'000'000 + i;
        candidate.group = static_cast<uint64_t>(i % 10);
        candidate.network = AddressNetwork::kIpv4;
        out.push_back(candidate);
    }
    return out;
}

/** The evicted peers, one after the other, until none is chosen. */
std::set<PeerId> AllEvicted(std::vector<EvictionCandidate> candidates)
{
    std::set<PeerId> out;
    while (const auto id = SelectToEvict(candidates)) {
        out.insert(*id);
        std::erase_if(candidates, [&](const auto& candidate) { return candidate.id == *id; });
    }
    return out;
}

} // namespace

TEST_CASE("peers that are protected from eviction", "[eviction]")
{
    // Few are never evicted: the best at each thing are all.
    CHECK_FALSE(SelectToEvict(Candidates(20)));
    CHECK(SelectToEvict(Candidates(40)));
    const auto survives = [](const std::function<void(EvictionCandidate&)>& change) {
        auto candidates = Candidates(100);
        change(candidates.at(97)); // one of the youngest, with nothing to speak of
        return !AllEvicted(candidates).contains(97);
    };
    CHECK_FALSE(survives([](auto&) {}));
    CHECK(survives([](auto& c) { c.noban = true; }));
    CHECK(survives([](auto& c) { c.inbound = false; }));
    CHECK(survives([](auto& c) { c.ping_shortest = 1; }));
    CHECK(survives([](auto& c) { c.last_tx = kNow; }));
    CHECK(survives([](auto& c) { c.last_block = kNow; }));
    CHECK(survives([](auto& c) { c.group = 999; }));
    CHECK(survives([](auto& c) { c.connected = 1; }));
    CHECK(survives([](auto& c) { c.relevant_services = true; }));

    // Unwanted peers are evicted first, else one of the largest group.
    auto candidates = Candidates(100);
    candidates[98].prefer_evict = true;
    CHECK(SelectToEvict(candidates) == 98);
    candidates = Candidates(100);
    for (int i = 60; i < 90; ++i) candidates[static_cast<size_t>(i)].group = 5;
    const auto chosen = SelectToEvict(candidates);
    REQUIRE(chosen);
    CHECK(candidates[static_cast<size_t>(*chosen)].group == 5);
}

TEST_CASE("half is protected by age, half of that by rare networks", "[eviction]")
{
    auto candidates = Candidates(40);
    for (int i = 30; i < 40; ++i) {
        candidates[static_cast<size_t>(i)].network =
            i < 38 ? AddressNetwork::kOnion : AddressNetwork::kI2p;
    }
    ProtectByNetworkAndAge(candidates);
    CHECK(candidates.size() == 20);
    const auto of = [&](AddressNetwork network) {
        return std::count_if(candidates.begin(), candidates.end(),
                             [&](const auto& c) { return c.network == network; });
    };
    CHECK(of(AddressNetwork::kI2p) == 0);
    CHECK(of(AddressNetwork::kOnion) == 0);
}

} // namespace ibd
