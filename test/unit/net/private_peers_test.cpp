// Connections for transactions of users: to which networks, through which proxy, and how many.
#include "net/parts_support.h"
#include "sim/model_pool.h"

#include "support/catch.h"

namespace ibd {

using namespace test;
using enum AddressNetwork;

namespace {

constexpr ConnectionKind kPrivate = ConnectionKind::kPrivateBroadcast;
const std::string kOnionName =
    "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:8333";
const std::string kTor = "127.0.0.1:9050";

void ThroughTor(PeerNetworkOptions& options)
{
    options.private_broadcast = true;
    options.proxies[kOnion] = {*Endpoint::Parse(kTor, 0), {}, true};
    options.reachable = {kIpv4, kOnion};
}

struct Scene {
    explicit Scene(const PartsKit::Change& change = ThroughTor) : kit(change) {}
    void Know(const std::string& address)
    {
        REQUIRE(kit.addresses.Add(*Endpoint::Parse(address, 8333), false) == AddAddressResult::kOk);
    }
    void Send(uint32_t n = 1) { (void)Relay().Send(sim::MakeModelTx({sim::ModelCoin(n)}, 1'000)); }
    /** Long after the last time. */
    void Tick() { kit.privately.Tick(time += 3'600 * kSecond); }
    PrivateRelay& Relay() { return kit.node.manager.Private(); }
    /** The order for the address, after some time for choices. */
    const DialOrder& OrderFor(const std::string& address)
    {
        for (int i = 0; i < 100 && !kit.dialler.Find(address); ++i) Tick();
        const DialOrder* const order = kit.dialler.Find(address);
        REQUIRE(order);
        return *order;
    }

    PartsKit kit;
    int64_t time = 0;
};

} // namespace

TEST_CASE("private connections are made one by one while transactions wait", "[private]")
{
    Scene scene;
    scene.Know(kOnionName);
    scene.Tick();
    CHECK(scene.kit.dialler.orders.empty());
    scene.Send();
    scene.Tick();
    scene.Tick();
    REQUIRE(scene.kit.dialler.orders.size() == 1);
    const DialOrder order = scene.kit.dialler.orders[0];
    CHECK(order.targets[0].address.ToString() == kOnionName);
    CHECK(order.targets[0].proxy.ToString() == kTor);
    // No slot of others is taken.
    CHECK_FALSE(scene.kit.calls.HasAutomatic());
    CHECK(scene.kit.calls.AutomaticOutbound() == 0);
    SECTION("success")
    {
        scene.kit.Answer(order, true);
        REQUIRE(scene.kit.admitted.size() == 1);
        CHECK(scene.kit.state.peers.CountOf(kPrivate) == 1);
        CHECK(scene.kit.calls.AutomaticOutbound() == 0);
        CHECK(scene.Relay().Missing() == PrivateRelay::kSends - 1);
    }
    SECTION("failure")
    {
        scene.kit.Answer(order, false);
        CHECK(scene.Relay().Missing() == PrivateRelay::kSends);
        scene.Tick();
        CHECK(scene.kit.dialler.orders.size() == 2);
    }
}

TEST_CASE("IPv4 is private only through a proxy that has led to Tor", "[private]")
{
    Scene scene;
    scene.Know("1.2.3.4:8333");
    scene.Send();
    for (int i = 0; i < 50; ++i) scene.Tick();
    CHECK(scene.kit.dialler.orders.empty());
    const PeerId peer = scene.kit.Connect(ConnectionKind::kManual, kOnionName);
    scene.kit.node.Say(peer, TestNode::Version());
    CHECK_FALSE(scene.Relay().TorWorks());
    scene.kit.node.Say(peer, VerackMessage{});
    CHECK(scene.Relay().TorWorks());
    const DialOrder order = scene.OrderFor("1.2.3.4:8333");
    CHECK(order.targets[0].proxy.ToString() == kTor);
    // Also when it is tried again without encryption.
    scene.kit.Answer(order, true);
    REQUIRE(scene.kit.admitted.size() == 1);
    scene.kit.dialler.orders.clear();
    scene.kit.calls.Retry(scene.kit.state.peers.Take(scene.kit.admitted[0].id));
    CHECK(scene.OrderFor("1.2.3.4:8333").targets[0].proxy.ToString() == kTor);
}

TEST_CASE("no private connection leaves by an open network", "[private]")
{
    Scene scene([](PeerNetworkOptions& options) {
        ThroughTor(options);
        options.reachable = {kIpv4};
    });
    scene.Know("1.2.3.4:8333");
    scene.Know(kOnionName);
    scene.Send();
    for (int i = 0; i < 50; ++i) scene.Tick();
    CHECK(scene.kit.dialler.orders.empty());
}

TEST_CASE("private connections have a limit of their own", "[private]")
{
    Scene scene;
    scene.Know(kOnionName);
    const int most = PeerNetworkOptions::kMaxPrivatePeers;
    for (uint32_t i = 0; i < 40; ++i) scene.Send(i);
    PeerId last = -1;
    for (int i = 0; i < most; ++i) {
        last = scene.kit.Connect(kPrivate, fmt::format("1.2.3.{}:8333", i + 1));
    }
    CHECK(scene.Relay().Missing() > 0);
    scene.Tick();
    CHECK(scene.kit.dialler.orders.empty());
    (void)scene.kit.state.peers.Take(last);
    scene.Tick();
    CHECK(scene.kit.dialler.orders.size() == 1);
}

} // namespace ibd
