// The parts of PeerNetwork, each without sockets: which connections are made, accepted and refused,
// and the data about peers and addresses.
#include "net/parts_support.h"

#include "net/socket_link.h"
#include "net/tip_news.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

ConnectedPeer At(const std::string& address, ConnectionKind kind = ConnectionKind::kInbound)
{
    ConnectedPeer out;
    out.peer.kind = kind;
    out.peer.address = *Endpoint::Parse(address, 8333);
    out.peer.name = address;
    return out;
}

Subnet Range(const std::string& text) { return *Subnet::Parse(text, false); }

} // namespace

// ConnectedPeers.

TEST_CASE("connected peers are found by address, name and kind", "[network_parts]")
{
    const NetGroups groups;
    ConnectedPeers peers(groups, {1, 2});
    const PeerId first = peers.Add(At("1.2.3.4:1")).peer.id;
    const PeerId second = peers.Add(At("1.2.9.9:2", ConnectionKind::kManual)).peer.id;
    CHECK(peers.Has(*NetAddress::Parse("1.2.3.4")));
    CHECK(peers.Has(*Endpoint::Parse("1.2.3.4:1", 0)));
    CHECK_FALSE(peers.Has(*Endpoint::Parse("1.2.3.4:2", 0)));
    CHECK(peers.HasName("1.2.9.9:2"));
    CHECK(peers.CountOf(ConnectionKind::kInbound) == 1);
    CHECK(peers.Counts().in == 1);
    CHECK(peers.Counts().out == 1);
    // Both are in 1.2.0.0/16; only the key decides the value of that group.
    CHECK(peers.All().at(first).group == peers.All().at(second).group);
    ConnectedPeers others(groups, {1, 3});
    CHECK(others.Add(At("1.2.3.4:1")).group != peers.All().at(first).group);

    peers.SetClosing(second);
    peers.SetClosing(99); // is not here
    CHECK(peers.All().at(second).closing);
    CHECK(peers.Take(second).peer.name == "1.2.9.9:2");
    CHECK_FALSE(peers.HasName("1.2.9.9:2"));
    CHECK(peers.Add(At("1.2.9.9:2")).peer.id > second); // ids are not used again
}

// AccessRules.

TEST_CASE("bans are saved when they change, and only then", "[network_parts]")
{
    PartsKit kit;
    CHECK(kit.access.Ban(Range("1.2.0.0/16"), 100, false));
    CHECK_FALSE(kit.access.Ban(Range("1.2.0.0/16"), 50, false));
    REQUIRE(kit.saved_bans.size() == 1);
    CHECK(kit.saved_bans[0].size() == 1);
    CHECK(kit.access.IsUnwanted(*NetAddress::Parse("1.2.3.4")));
    CHECK_FALSE(kit.access.IsUnwanted(*NetAddress::Parse("1.3.3.4")));
    CHECK_FALSE(kit.access.Unban(Range("1.2.3.4/32")));
    CHECK(kit.saved_bans.size() == 1);
    kit.node.now += 101 * kSecond;
    CHECK_FALSE(kit.access.IsUnwanted(*NetAddress::Parse("1.2.3.4")));
    kit.access.Discourage(*NetAddress::Parse("1.3.3.4"));
    CHECK(kit.access.IsUnwanted(*NetAddress::Parse("1.3.3.4")));
    CHECK(kit.saved_bans.size() == 1); // kept until the node ends only
}

TEST_CASE("the whitelist gives permissions by direction, and hidden peers none", "[network_parts]")
{
    PartsKit kit([](PeerNetworkOptions& options) {
        options.whitelist = {{Range("1.2.0.0/16"), kPermitImplicit, true, false},
                             {Range("1.2.3.0/24"), kPermitMempool, false, true}};
        options.whitelist_forcerelay = true;
    });
    const NetAddress address = *NetAddress::Parse("1.2.3.4");
    CHECK(kit.access.WithWhitelist(kPermitNone, &address, true) ==
          (kPermitForceRelay | kPermitRelay | kPermitMempool | kPermitNoBan));
    CHECK(kit.access.WithWhitelist(kPermitAddr, &address, false) == (kPermitAddr | kPermitMempool));
    CHECK(kit.access.WithWhitelist(kPermitAddr, nullptr, true) == kPermitAddr);
}

// OutboundCalls.

TEST_CASE("connections that are known to be in vain are not attempted", "[network_parts]")
{
    PartsKit kit([](PeerNetworkOptions& options) {
        options.external = {*Endpoint::Parse("9.9.9.9", 8333)};
    });
    kit.addresses.Start();
    kit.Connect(ConnectionKind::kInbound, "1.1.1.1:5555");
    kit.access.Ban(Range("2.2.2.2/32"), 100, false);
    CHECK_FALSE(kit.calls.Connect(kit.To("1.1.1.1"))); // connected, if from another port
    CHECK_FALSE(kit.calls.Connect(kit.To("2.2.2.2"))); // banned
    CHECK_FALSE(kit.calls.Connect(kit.To("9.9.9.9"))); // ourselves
    CHECK_FALSE(kit.calls.Connect(kit.Named("1.1.1.1:5555")));
    CHECK(kit.dialler.orders.empty());
    CHECK(kit.calls.Connect(kit.To("3.3.3.3")));
    CHECK_FALSE(kit.calls.Connect(kit.To("3.3.3.3")));   // is under way
    CHECK(kit.calls.Connect(kit.Named("2.2.2.2:8333"))); // the user insists
    CHECK(kit.dialler.orders.size() == 2);
    kit.state.active = false;
    CHECK_FALSE(kit.calls.Connect(kit.To("4.4.4.4")));
    kit.state.active = true;
    kit.state.started = false;
    CHECK_FALSE(kit.calls.Connect(kit.To("4.4.4.4")));
}

TEST_CASE("a connection that is made carries what was asked for", "[network_parts]")
{
    PartsKit kit([](PeerNetworkOptions& options) {
        options.proxies[AddressNetwork::kIpv4] = {*Endpoint::Parse("127.0.0.1", 9050), "", false};
        options.whitelist = {{Range("5.5.5.5/32"), kPermitMempool, false, true}};
    });
    OutboundCall call = kit.Named("5.5.5.5:7");
    call.v2 = call.added = true;
    REQUIRE(kit.calls.Connect(call));
    REQUIRE(kit.dialler.orders.size() == 1);
    const DialOrder& order = kit.dialler.orders[0];
    CHECK(order.manual);
    CHECK(order.targets.at(0).proxy.address.ToString() == "127.0.0.1:9050");
    CHECK(kit.calls.CountAdded() == 1);
    CHECK_FALSE(kit.calls.HasAutomatic());
    kit.Answer(order, true);
    REQUIRE(kit.admitted.size() == 1);
    CHECK(kit.admitted[0].socket == order.id);
    CHECK(kit.admitted[0].speech == Connections::Speech::kV2);
    const ConnectedPeer& peer = kit.state.peers.All().at(kit.admitted[0].id);
    CHECK(peer.peer.kind == ConnectionKind::kManual);
    CHECK(peer.peer.name == "5.5.5.5:7");
    CHECK(peer.peer.permissions == kPermitMempool);
    CHECK(peer.added);
    CHECK(kit.calls.CountAdded() == 0);

    // It hung up at once, as peers do that do not speak v2.
    const ConnectedPeer gone = kit.state.peers.Take(kit.admitted[0].id);
    kit.calls.Retry(gone);
    REQUIRE(kit.dialler.orders.size() == 2);
    kit.Answer(kit.dialler.orders[1], true);
    REQUIRE(kit.admitted.size() == 2);
    CHECK(kit.admitted[1].speech == Connections::Speech::kV1);
    CHECK(kit.state.peers.All().at(kit.admitted[1].id).added);
}

TEST_CASE("only failures of the address count, and late sockets are closed", "[network_parts]")
{
    PartsKit kit;
    const Endpoint known = *Endpoint::Parse("6.6.6.6", 8333);
    CHECK(kit.addresses.Add(known, false) == AddAddressResult::kOk);
    const auto last_try = [&] {
        return kit.addresses.Others().Entries(false).at(0).first.last_try;
    };
    REQUIRE(kit.calls.Connect(kit.To("6.6.6.6")));
    kit.Answer(kit.dialler.orders.at(0), false, true);
    CHECK(last_try() == 0); // the proxy's failure
    REQUIRE(kit.calls.Connect(kit.To("6.6.6.6")));
    kit.Answer(kit.dialler.orders.at(1), false);
    CHECK(last_try() == kit.state.NowSeconds());

    REQUIRE(kit.calls.Connect(kit.To("6.6.6.6")));
    kit.state.thread.Interrupt();
    kit.Answer(kit.dialler.orders.at(2), true);
    CHECK(kit.admitted.empty());
    CHECK(kit.dialler.refused == std::vector<SocketId>{kit.dialler.orders.at(2).id});
}

TEST_CASE("attempts take slots, and waiting callers are released at the end", "[network_parts]")
{
    PartsKit kit;
    const auto add = [&](const std::string& address, ConnectionKind kind) {
        OutboundCall call;
        call.kind = kind;
        return kit.calls.AddConnection(address, std::move(call));
    };
    CHECK(add("1.0.0.1:1", ConnectionKind::kBlockRelay));
    CHECK(add("1.0.0.2:1", ConnectionKind::kBlockRelay));
    CHECK(kit.calls.AutomaticOutbound() == 2);
    CHECK(kit.calls.HasAutomatic());
    CHECK_FALSE(add("1.0.0.3:1", ConnectionKind::kBlockRelay));
    CHECK_FALSE(add("1.0.0.3:1", ConnectionKind::kManual));
    kit.Answer(kit.dialler.orders.at(0), false);
    CHECK(add("1.0.0.3:1", ConnectionKind::kBlockRelay));

    OutboundCall call = kit.To("1.0.0.4");
    call.over = std::make_shared<std::promise<void>>();
    std::future<void> over = call.over->get_future();
    REQUIRE(kit.calls.Connect(std::move(call)));
    CHECK(over.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
    kit.calls.ReleaseWaiting();
    CHECK(over.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
}

// NamedPeers.

TEST_CASE("added nodes are called one at a time, eight at most", "[network_parts]")
{
    PartsKit kit;
    for (int i = 1; i <= 10; ++i) CHECK(kit.named.Add(fmt::format("1.{}.1.1", i), false));
    CHECK_FALSE(kit.named.Add("1.3.1.1", false));
    CHECK_FALSE(
        kit.named.Add(fmt::format("1.3.1.1:{}", kit.node.params.p2p_port), false)); // the same
    CHECK(kit.named.Contains(*Endpoint::Parse("1.4.1.1", 1)));
    int64_t now = 0;
    kit.named.Tick(now);
    CHECK(kit.dialler.orders.size() == 1);
    kit.named.Tick(now); // not before half a second
    CHECK(kit.dialler.orders.size() == 1);
    for (int i = 0; i < 20; ++i) kit.named.Tick(now += kSecond / 2);
    CHECK(kit.dialler.orders.size() == NamedPeers::kMaxAdded);
    CHECK(kit.calls.CountAdded() == NamedPeers::kMaxAdded);
    // One fails, so that another has its turn.
    kit.Answer(kit.dialler.orders.at(0), false);
    for (int i = 0; i < 20; ++i) kit.named.Tick(now += kSecond / 2);
    CHECK(kit.dialler.orders.size() == NamedPeers::kMaxAdded + 1);

    kit.Answer(kit.dialler.orders.at(1), true);
    const auto nodes = kit.named.List();
    REQUIRE(nodes.size() == 10);
    CHECK(std::count_if(nodes.begin(), nodes.end(), [](const auto& n) { return n.connected; }) ==
          1);
    CHECK(kit.named.Remove("1.3.1.1"));
    CHECK_FALSE(kit.named.Remove("1.3.1.1"));
}

TEST_CASE("peers of -connect are called in turn, at growing intervals", "[network_parts]")
{
    PartsKit kit([](PeerNetworkOptions& options) {
        options.connect_only = true;
        options.connect = {"1.1.1.1:1", "2.2.2.2:2"};
    });
    std::vector<int64_t> times;
    for (int64_t now = 0; now < 30 * kSecond; now += kSecond / 2) {
        kit.named.Tick(now);
        while (times.size() < kit.dialler.orders.size()) {
            kit.Answer(kit.dialler.orders.at(times.size()), false);
            times.push_back(2 * now / kSecond);
        }
    }
    REQUIRE(times.size() >= 8);
    CHECK(kit.dialler.orders.at(0).targets.at(0).address.ToString() == "1.1.1.1:1");
    CHECK(kit.dialler.orders.at(1).targets.at(0).address.ToString() == "2.2.2.2:2");
    // In half seconds: one more for each round.
    CHECK(times[3] - times[2] == 1);
    CHECK(times[5] - times[4] == 2);
    CHECK(times[7] - times[6] == 3);
}

// NodeAddresses.

TEST_CASE("answers to getaddr are the same for a day, but not for all", "[network_parts]")
{
    PartsKit kit;
    for (int i = 1; i < 200; ++i) {
        const std::string address = fmt::format("{}.{}.1.1", 1 + i % 9, i);
        (void)kit.addresses.Add(*Endpoint::Parse(address, 8333), false);
    }
    const size_t all = kit.addresses.Others().Size(); // a few displace others
    REQUIRE(all > 100);
    NewPeer asker;
    asker.address = *Endpoint::Parse("7.7.7.7", 8333);
    const auto first = kit.addresses.Answer(asker, false);
    CHECK(first.size() == all * NodeAddresses::kAnswerPercent / 100);
    asker.address = *Endpoint::Parse("8.8.8.8", 8333); // the same network
    CHECK(kit.addresses.Answer(asker, false) == first);
    CHECK(kit.addresses.Answer(asker, true) != first);
    asker.inbound_onion = true;
    CHECK(kit.addresses.Answer(asker, false) != first);
    asker.inbound_onion = false;
    kit.node.now += 28 * 60 * 60 * kSecond;
    CHECK(kit.addresses.Answer(asker, false) != first);
    for (const PeerAddress& address : first) {
        kit.access.Discourage(address.endpoint.address);
    }
    CHECK(kit.addresses.Known(0, std::nullopt).size() == all - first.size());
}

// AutomaticPeers.

namespace {

/** Seconds pass; every dial succeeds. Returns the most slots used at once. */
int PassWhilePeersAnswer(PartsKit& kit, int seconds)
{
    int most = 0;
    for (int i = 0; i < seconds; ++i) {
        kit.node.now += kSecond;
        const size_t before = kit.dialler.orders.size();
        kit.automatic.Tick(kit.node.now);
        kit.automatic.Tick(kit.node.now + AutomaticPeers::kPlanInterval); // one is under way
        CHECK(kit.dialler.orders.size() <= before + 1);
        most = std::max(most, kit.calls.AutomaticOutbound());
        if (kit.dialler.orders.size() > before) kit.Answer(kit.dialler.orders.back(), true);
    }
    return most;
}

} // namespace

TEST_CASE("automatic connections are made one at a time, within their slots", "[network_parts]")
{
    PartsKit kit;
    for (int i = 1; i < 60; ++i) {
        const std::string address = fmt::format("{}.{}.1.1", 11 + i, i);
        (void)kit.addresses.Add(*Endpoint::Parse(address, 8333), false);
    }
    kit.automatic.MakePlans();
    CHECK(kit.automatic.HasPlan());
    kit.state.active = false;
    CHECK(PassWhilePeersAnswer(kit, 10) == 0);
    kit.state.active = true;
    CHECK(PassWhilePeersAnswer(kit, 200) <= kit.state.limits.all);
    const ConnectedPeers& peers = kit.state.peers;
    CHECK(peers.CountOf(ConnectionKind::kOutboundFullRelay) == OutboundLimits::kFullRelay);
    CHECK(peers.CountOf(ConnectionKind::kBlockRelay) == OutboundLimits::kBlockRelay);
    kit.automatic.SetExtraBlockPeers(2);
    (void)PassWhilePeersAnswer(kit, 200);
    CHECK(peers.CountOf(ConnectionKind::kBlockRelay) == OutboundLimits::kBlockRelay + 2);
    CHECK(peers.CountOf(ConnectionKind::kOutboundFullRelay) == OutboundLimits::kFullRelay);
}

TEST_CASE("with -connect nothing is chosen, and seed nodes are asked otherwise", "[network_parts]")
{
    for (const bool connect_only : {true, false}) {
        PartsKit kit([&](PeerNetworkOptions& options) {
            options.connect_only = connect_only;
            options.seed_nodes = {"9.1.2.3:4"};
        });
        kit.automatic.MakePlans();
        CHECK(kit.automatic.HasPlan() != connect_only);
        for (int64_t now = 0; now < 60 * kSecond; now += kSecond) kit.automatic.Tick(now);
        CHECK((kit.dialler.Find("9.1.2.3:4") == nullptr) == connect_only);
    }
}

// SocketLink.

namespace {

class NoEvents final : public ConnectionEvents {
public:
    void Accepted(Caller) override {}
    void Dialled(DialResult) override {}
    void Received(PeerId, std::vector<ReceivedMessage>) override {}
    void Relieved(PeerId) override {}
    void Closed(PeerId, bool) override {}
    void Reachable(const Endpoint&, bool) override {}
};

} // namespace

TEST_CASE("the upload target counts the bytes that were sent", "[network_parts]")
{
    constexpr uint64_t kTarget = 1'000'000'000;
    PartsKit kit([](PeerNetworkOptions& options) { options.max_upload = kTarget; });
    NoEvents events;
    ConnectionSettings settings;
    settings.now = [&] { return kit.node.now; };
    Connections connections(kit.node.env, *kit.node.logger, std::move(settings), events);
    SocketLink link(kit.state, kit.access, connections);
    CHECK(link.MayUpload());
    CHECK(link.MayUploadHistory());
    connections.CountTraffic(kTarget - 1'000'000, 7);
    CHECK(link.MayUpload());
    CHECK_FALSE(link.MayUploadHistory()); // the rest is for the blocks of the day
    CHECK(link.Totals().upload.bytes_left == 1'000'000);
    CHECK(link.Totals().received == 7);
    connections.CountTraffic(1'000'000, 0);
    CHECK_FALSE(link.MayUpload()); // before the next count
    CHECK(link.Totals().upload.reached);
    kit.node.now += (UploadMeter::kTimeframe + 1) * kSecond;
    connections.CountTraffic(1, 0);
    CHECK(link.MayUpload());

    const PeerId id = kit.Connect(ConnectionKind::kManual, "1.2.3.4:5");
    link.Discourage(*NetAddress::Parse("1.2.3.4"));
    CHECK(kit.access.IsUnwanted(*NetAddress::Parse("1.2.3.4")));
    link.Disconnect(id);
    CHECK(kit.state.peers.All().at(id).closing);
}

// InboundPeers.

TEST_CASE("inbound peers are refused for a reason, and welcome ones are not", "[network_parts]")
{
    PartsKit kit([](PeerNetworkOptions& options) {
        options.whitelist = {{Range("3.3.3.3/32"), kPermitNoBan, true, false}};
    });
    kit.access.Ban(Range("0.0.0.0/0"), 100, false);
    CHECK_FALSE(kit.inbound.Admit(kit.CallerFrom("2.2.2.2:1")));
    const auto welcome = kit.inbound.Admit(kit.CallerFrom("3.3.3.3:1"));
    REQUIRE(welcome);
    CHECK(welcome->peer.permissions == kPermitNoBan);
    CHECK(welcome->peer.name == "3.3.3.3:1");
    Caller hidden = kit.CallerFrom("3.3.3.3:1");
    hidden.onion = true;
    CHECK_FALSE(kit.inbound.Admit(hidden)); // its address says nothing about it
    kit.state.active = false;
    CHECK_FALSE(kit.inbound.Admit(kit.CallerFrom("3.3.3.3:1")));
}

TEST_CASE("when all slots are taken an inbound peer is evicted for another", "[network_parts]")
{
    PartsKit kit([](PeerNetworkOptions& options) { options.max_connections = 40; });
    const size_t slots = static_cast<size_t>(kit.state.limits.inbound);
    for (size_t i = 0; i < slots; ++i) {
        auto peer = kit.inbound.Admit(kit.CallerFrom(fmt::format("1.{}.1.1:1", i)));
        REQUIRE(peer);
        kit.Connect(std::move(*peer));
    }
    CHECK(kit.node.link.closed.empty());
    CHECK(kit.inbound.Admit(kit.CallerFrom("2.2.2.2:1")));
    CHECK(kit.node.link.closed.size() == 1);
    kit.access.Discourage(*NetAddress::Parse("2.2.2.2"));
    CHECK_FALSE(kit.inbound.Admit(kit.CallerFrom("2.2.2.2:1")));
    CHECK(kit.node.link.closed.size() == 1);
}

// TipNews.

TEST_CASE("two changes of the tip become one, with the lower fork", "[network_parts]")
{
    const ChainParams params = RegtestParams();
    TestChain chain(params);
    chain.Extend(5);
    const auto at = [&](int height) -> const HeaderNode& { return *chain.Tip().Ancestor(height); };
    TipNews news;
    CHECK_FALSE(news.Take());
    news.Put(at(4), at(2));
    news.Put(at(5), at(4));
    const auto change = news.Take();
    REQUIRE(change);
    CHECK(change->tip == &at(5));
    CHECK(change->fork == &at(2));
    CHECK_FALSE(news.Take());
    news.Put(at(5), at(4));
    CHECK(news.Take()->fork == &at(4));
}

} // namespace ibd
