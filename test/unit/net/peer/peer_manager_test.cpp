// Handshake, pings, timeouts and punishment, with scripted peers.
#include "net/peer_support.h"
#include "support/testdata.h"

#include "support/catch.h"

namespace ibd {

using namespace test;
using Types = std::vector<std::string>;

TEST_CASE("handshake of an inbound peer", "[peer_manager]")
{
    PeerOptions options = WithServices(1033);
    options.user_agent = "/us:1/";
    TestNode node(RegtestParams(), options);
    const PeerId id = node.Connect(ConnectionKind::kInbound);
    CHECK(node.Types(id).empty());
    node.Say(id, PingMessage{1});
    CHECK(node.Types(id).empty());

    node.Say(id, TestNode::Version());
    const auto first = node.link.sent[id].front();
    const auto ours = Decode<VersionMessage>(first.payload);
    REQUIRE(ours);
    CHECK(ours->version == 70017);
    CHECK(ours->services == 1033);
    CHECK(ours->time == kStart);
    CHECK(ours->user_agent == "/us:1/");
    CHECK(ours->start_height == 0);
    CHECK(ours->relay);
    CHECK(ours->receiver.ToString() == "8.8.8.8:8333");
    CHECK(node.Types(id) == Types{"version", "wtxidrelay", "sendaddrv2", "verack"});
    CHECK_FALSE(node.Info(id).established);

    node.Say(id, PingMessage{1});
    CHECK(node.Types(id).empty()); // not before verack
    node.Say(id, VerackMessage{});
    CHECK(node.Types(id) == Types{"sendcmpct", "ping", "getheaders"});
    node.Say(id, PingMessage{77});
    CHECK(node.Take<PongMessage>(id) == std::vector{PongMessage{77}});
    node.Say(id, TestNode::Version()); // twice
    node.Say(id, VerackMessage{});
    CHECK(node.Types(id).empty());
    CHECK_FALSE(node.IsClosed(id));

    const PeerInfo info = node.Info(id);
    CHECK(info.established);
    CHECK(info.version == 70017);
    CHECK(info.services == 9);
    CHECK(info.user_agent == "/test:1.0/");
    CHECK(info.start_height == 7);
    CHECK(info.relays_txs);
    node.manager.Disconnected(id);
    CHECK(node.manager.Count() == 0);
    node.Say(id, PingMessage{1}); // too late, and no harm
}

TEST_CASE("handshake of an outbound peer", "[peer_manager]")
{
    TestNode node(RegtestParams());
    const PeerId id = node.Connect(ConnectionKind::kOutboundFullRelay);
    CHECK(node.Types(id) == Types{"version"});
    node.Say(id, TestNode::Version());
    CHECK(node.Types(id) == Types{"wtxidrelay", "sendaddrv2", "verack"});
    node.Say(id, VerackMessage{});
    CHECK(node.Types(id) == Types{"sendcmpct", "ping", "getheaders"});

    const PeerId feeler = node.Connect(ConnectionKind::kFeeler, "9.9.9.9:1");
    node.Say(feeler, TestNode::Version());
    CHECK(node.IsClosed(feeler));
}

TEST_CASE("old peers get only messages that they know", "[peer_manager]")
{
    const auto types = [](int32_t version) {
        TestNode node(RegtestParams());
        const PeerId id = node.Connect(ConnectionKind::kInbound);
        auto message = TestNode::Version();
        message.version = version;
        node.Say(id, message);
        node.Say(id, VerackMessage{});
        if (node.IsClosed(id)) return Types{"closed"};
        return node.Types(id);
    };
    CHECK(types(70015) == Types{"version", "verack", "sendcmpct", "ping", "getheaders"});
    CHECK(types(70013) == Types{"version", "verack", "ping", "getheaders"});
    CHECK(types(31800) == Types{"version", "verack", "ping", "getheaders"});
    CHECK(types(31799) == Types{"closed"});
    CHECK(types(-1) == Types{"closed"});
    CHECK(types(90000) == types(70017));

    TestNode node(RegtestParams());
    auto message = TestNode::Version();
    message.version = 60000;
    const PeerId id = node.Connect(ConnectionKind::kInbound);
    node.Say(id, message);
    node.Say(id, VerackMessage{});
    for (const auto& sent : node.link.sent[id])
        CHECK((sent.type != "ping" || sent.payload.empty()));
    node.link.sent[id].clear();
    node.SayRaw(id, "ping");
    CHECK(node.Types(id).empty());
}

TEST_CASE("services required of outbound peers", "[peer_manager]")
{
    TestNode node(RegtestParams());
    const auto closed = [&](ConnectionKind kind, uint64_t services) {
        const PeerId id = node.Connect(kind);
        auto message = TestNode::Version();
        message.services = services;
        node.Say(id, message);
        return node.IsClosed(id);
    };
    const uint64_t limited = kNodeNetworkLimited | kNodeWitness;
    CHECK(closed(ConnectionKind::kOutboundFullRelay, kNodeNetwork));
    CHECK(closed(ConnectionKind::kBlockRelay, kNodeWitness));
    CHECK(closed(ConnectionKind::kAddrFetch, kNodeNone));
    CHECK(closed(ConnectionKind::kOutboundFullRelay, limited)); // our chain is old
    CHECK_FALSE(closed(ConnectionKind::kOutboundFullRelay, kNodeNetwork | kNodeWitness));
    CHECK_FALSE(closed(ConnectionKind::kManual, kNodeNone));
    CHECK_FALSE(closed(ConnectionKind::kInbound, kNodeNone));
    node.chain.first_time = kStart - 144 * 600 + 600;
    node.chain.Extend(1);
    CHECK_FALSE(closed(ConnectionKind::kOutboundFullRelay, limited));
}

TEST_CASE("a warning if the clock differs from that of most outbound peers", "[peer_manager]")
{
    TestNode node(RegtestParams());
    const auto call = [&](ConnectionKind kind, int64_t ahead) {
        VersionMessage version = TestNode::Version();
        version.time += ahead;
        (void)node.Befriend(kind, "8.8.8.8:8333", kPermitNone, version);
    };
    for (int i = 0; i < 20; ++i) call(ConnectionKind::kInbound, 5'000); // may be one and the same
    for (int i = 0; i < 4; ++i) call(ConnectionKind::kManual, -601);
    CHECK(node.warnings.Messages().empty());
    CHECK(node.manager.TimeOffset() == 0);
    call(ConnectionKind::kManual, -601);
    CHECK(node.manager.TimeOffset() == -601);
    REQUIRE(node.warnings.Messages().size() == 1);
    CHECK(node.warnings.Messages()[0].starts_with("Your computer's date and time appear to be more "
                                                  "than 10 minutes out of sync with the network,"));
    for (int i = 0; i < 5; ++i) call(ConnectionKind::kManual, 600);
    CHECK(node.manager.TimeOffset() == 600);
    CHECK(node.warnings.Messages().empty());
    // Extreme values of a liar do not overflow the sum.
    for (int i = 0; i < 30; ++i)
        call(ConnectionKind::kManual, std::numeric_limits<int64_t>::min() / 2);
    CHECK(node.warnings.Messages().size() == 1);
}

TEST_CASE("a connection to oneself ends", "[peer_manager]")
{
    TestNode node(RegtestParams());
    const PeerId out = node.Connect(ConnectionKind::kManual);
    const PeerId in = node.Connect(ConnectionKind::kInbound);
    const auto version = node.Take<VersionMessage>(out);
    REQUIRE(version.size() == 1);
    node.Say(in, version[0]);
    CHECK(node.IsClosed(in));
    CHECK(node.Types(in).empty());
}

TEST_CASE("what must come before verack", "[peer_manager]")
{
    for (const char* type : {"wtxidrelay", "sendaddrv2", "feature"}) {
        TestNode node(RegtestParams());
        const Bytes payload =
            type == std::string("feature") ? Encode(FeatureMessage{"abcd", {1}}) : Bytes{};
        const PeerId early = node.Connect(ConnectionKind::kInbound);
        node.Say(early, TestNode::Version());
        node.SayRaw(early, type, payload);
        node.SayRaw(early, type, payload);
        node.Say(early, VerackMessage{});
        CHECK_FALSE(node.IsClosed(early));
        node.SayRaw(early, type, payload);
        CHECK(node.IsClosed(early));
    }
    TestNode node(RegtestParams());
    auto old = TestNode::Version();
    old.version = 70016;
    const PeerId id = node.Connect(ConnectionKind::kInbound);
    node.Say(id, old);
    node.Say(id, FeatureMessage{"abcd", {}});
    CHECK(node.IsClosed(id));
    const PeerId malformed = node.Connect(ConnectionKind::kInbound);
    node.Say(malformed, TestNode::Version());
    node.SayRaw(malformed, "feature", Bytes{3, 'a', 'b', 'c', 0});
    CHECK(node.IsClosed(malformed));
}

TEST_CASE("pings and what comes back", "[peer_manager]")
{
    TestNode node(RegtestParams());
    const PeerId id = node.Connect(ConnectionKind::kInbound);
    node.Say(id, TestNode::Version());
    node.Say(id, VerackMessage{});
    auto pings = node.Take<PingMessage>(id);
    REQUIRE(pings.size() == 1);
    node.now += 3 * kSecond;
    CHECK(node.Info(id).ping_wait == 3 * kSecond);

    node.Say(id, PongMessage{pings[0].nonce ^ 1}); // one that overlaps
    CHECK(node.Info(id).ping_wait == 3 * kSecond);
    node.Say(id, PongMessage{pings[0].nonce});
    CHECK(node.Info(id).ping_wait == -1);
    CHECK(node.Info(id).ping_time == 3 * kSecond);
    node.Say(id, PongMessage{pings[0].nonce}); // unsolicited
    CHECK(node.Info(id).ping_time == 3 * kSecond);

    const auto next_ping = [&] {
        node.manager.PingAll();
        node.Run();
        pings = node.Take<PingMessage>(id);
        REQUIRE(pings.size() == 1);
    };
    next_ping();
    node.now += kSecond;
    node.Say(id, PongMessage{pings[0].nonce});
    CHECK(node.Info(id).ping_time == kSecond);
    CHECK(node.Info(id).ping_shortest == kSecond);
    next_ping();
    node.Say(id, PongMessage{0});
    CHECK(node.Info(id).ping_wait == -1);
    next_ping();
    node.SayRaw(id, "pong", Bytes(7));
    CHECK(node.Info(id).ping_wait == -1);
    CHECK(node.Info(id).ping_time == kSecond);

    node.MoveTime(120);
    CHECK(node.Take<PingMessage>(id).empty());
    node.MoveTime(1);
    CHECK(node.Take<PingMessage>(id).size() == 1);
    node.MoveTime(20 * 60);
    CHECK_FALSE(node.IsClosed(id));
    node.MoveTime(1);
    CHECK(node.IsClosed(id));
}

TEST_CASE("silent peers", "[peer_manager]")
{
    TestNode node(RegtestParams());
    const PeerId half = node.Connect(ConnectionKind::kInbound);
    node.Say(half, TestNode::Version());
    node.MoveTime(60);
    CHECK_FALSE(node.IsClosed(half));
    const PeerId whole = node.Befriend(ConnectionKind::kInbound);
    node.MoveTime(1);
    CHECK(node.IsClosed(half)); // no verack in a minute
    node.MoveTime(100);
    CHECK_FALSE(node.IsClosed(whole));
    // Answers its pings no more, and says nothing.
    node.now += 20 * 60 * kSecond + kSecond;
    node.Run();
    CHECK(node.IsClosed(whole));

    TestNode other(RegtestParams());
    const PeerId dumb = other.Connect(ConnectionKind::kInbound);
    other.link.traffic = {};
    other.now += 61 * kSecond;
    other.Run();
    CHECK(other.IsClosed(dumb));
}

TEST_CASE("misbehaving peers", "[peer_manager]")
{
    TestNode node(RegtestParams());
    const auto misbehave = [&](PeerId id) {
        node.SayRaw(id, "sendcmpct", Bytes{2, 2, 0, 0, 0, 0, 0, 0, 0});
    };
    const PeerId neighbour = node.Befriend(ConnectionKind::kInbound, "8.8.8.8:2");
    const PeerId stranger = node.Befriend(ConnectionKind::kInbound, "8.8.4.4:1");
    const PeerId bad = node.Befriend(ConnectionKind::kInbound, "8.8.8.8:1");
    misbehave(bad);
    CHECK(node.IsClosed(bad));
    CHECK(node.IsClosed(neighbour)); // of the same address
    CHECK_FALSE(node.IsClosed(stranger));
    CHECK(node.link.discouraged == Types{"8.8.8.8"});

    const PeerId local = node.Befriend(ConnectionKind::kInbound, "127.0.0.1:1");
    const PeerId other_local = node.Befriend(ConnectionKind::kInbound, "127.0.0.1:2");
    misbehave(local);
    CHECK(node.IsClosed(local));
    CHECK_FALSE(node.IsClosed(other_local));
    const PeerId friendly = node.Befriend(ConnectionKind::kInbound, "1.1.1.1:1", kPermitNoBan);
    misbehave(friendly);
    CHECK_FALSE(node.IsClosed(friendly));
    const PeerId manual = node.Befriend(ConnectionKind::kManual, "1.1.1.2:1");
    misbehave(manual);
    CHECK_FALSE(node.IsClosed(manual));
    CHECK(node.link.discouraged == Types{"8.8.8.8"});

    CHECK(node.manager.Disconnect(manual, "enough"));
    CHECK(node.IsClosed(manual));
    CHECK_FALSE(node.IsClosed(friendly));
    CHECK_FALSE(node.manager.Disconnect(999, "enough"));
}

TEST_CASE("lists that are too long are misbehaviour", "[peer_manager]")
{
    const auto closed = [](std::string type, size_t count, size_t entry) {
        TestNode node(RegtestParams());
        const PeerId id = node.Befriend(ConnectionKind::kInbound);
        Bytes payload;
        Writer writer(payload);
        writer.CompactSize(count);
        payload.resize(payload.size() + count * entry);
        node.SayRaw(id, std::move(type), std::move(payload));
        return node.link.discouraged.size() == 1 && node.IsClosed(id);
    };
    for (const char* type : {"inv", "getdata"}) {
        CHECK_FALSE(closed(type, 50'000, 36));
        CHECK(closed(type, 50'001, 36));
    }
    CHECK_FALSE(closed("addr", 1000, 30));
    CHECK(closed("addr", 1001, 30));
    CHECK(closed("headers", 2001, 81));
}

TEST_CASE("what is not offered, and what is not known", "[peer_manager]")
{
    for (const char* type : {"mempool", "filterload", "filteradd", "filterclear"}) {
        TestNode node(RegtestParams());
        const PeerId id = node.Befriend(ConnectionKind::kInbound);
        node.SayRaw(id, type);
        CHECK(node.IsClosed(id));
        CHECK(node.link.discouraged.empty());
    }
    for (const char* type : {"getcfilters", "getcfheaders", "getcfcheckpt"}) {
        TestNode node(RegtestParams());
        const PeerId id = node.Befriend(ConnectionKind::kInbound);
        node.SayRaw(id, type, Bytes(32)); // malformed: dropped
        CHECK_FALSE(node.IsClosed(id));
        node.SayRaw(id, type, Bytes(37));
        CHECK(node.IsClosed(id));
        CHECK(node.link.discouraged.empty());
    }
    TestNode node(RegtestParams());
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    for (const char* type : {"getaddr", "getaddr", "whatever", "alert", "tx", "cfilter"}) {
        node.SayRaw(id, type, RandomBytes(40));
    }
    node.SayRaw(id, "feefilter", Bytes(3)); // malformed: dropped
    node.Say(id, FeeFilterMessage{-1});
    CHECK(node.Info(id).fee_filter == 0);
    node.Say(id, FeeFilterMessage{1000});
    CHECK(node.Info(id).fee_filter == 1000);
    InvMessage inv;
    inv.list.items = {{kInvTx, Uint256{}}, {kInvWtx, Uint256{}}, {99, Uint256{}}};
    node.Say(id, inv);
    CHECK(node.Types(id).empty());
    CHECK_FALSE(node.IsClosed(id));

    TestNode strict(RegtestParams(), BlocksOnly());
    const PeerId talker = strict.Befriend(ConnectionKind::kInbound);
    strict.Say(talker, inv);
    CHECK(strict.IsClosed(talker));
    const PeerId sender = strict.Befriend(ConnectionKind::kInbound);
    strict.SayRaw(sender, "tx");
    CHECK(strict.IsClosed(sender));
    const PeerId permitted = strict.Befriend(ConnectionKind::kInbound, "1.2.3.4:5", kPermitRelay);
    strict.Say(permitted, inv);
    CHECK_FALSE(strict.IsClosed(permitted));
}

TEST_CASE("received bytes count until they are read", "[peer_manager]")
{
    TestNode node(RegtestParams());
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    node.link.consumed = 0;
    node.link.paused.insert(id);
    for (int i = 0; i < 5; ++i) node.SayRaw(id, "unknown", Bytes(100));
    CHECK(node.link.consumed == 0); // nothing is read while answers cannot leave
    node.link.paused.clear();
    node.Run();
    CHECK(node.link.consumed == 500);
    node.link.paused.insert(id);
    node.SayRaw(id, "unknown", Bytes(100));
    node.manager.Disconnect(id, "enough");
    CHECK(node.link.consumed == 600);
    node.SayRaw(id, "unknown", Bytes(100));
    CHECK(node.link.consumed == 700);
}

TEST_CASE("bytes of requests count until these are served", "[peer_manager]")
{
    TestNode node(RegtestParams());
    node.chain.Extend(3);
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    GetDataMessage message;
    for (int32_t height = 1; height <= 3; ++height) {
        message.list.items.push_back({kInvWitnessBlock, node.chain.Tip().Ancestor(height)->hash});
    }
    OutgoingMessage out = MakeOutgoing(message);
    const size_t size = out.payload.size();
    node.link.sent[id].clear();
    node.link.consumed = 0;
    node.manager.Received(id, {std::move(out.type), std::move(out.payload), 0, {}});
    CHECK(node.manager.Work());
    CHECK(node.link.sent[id].size() == 1); // block after block
    node.link.paused.insert(id);
    node.Run();
    CHECK(node.link.sent[id].size() == 1);
    CHECK(node.link.consumed == 0);
    node.link.paused.clear();
    node.Run();
    CHECK(node.link.sent[id].size() == 3);
    CHECK(node.link.consumed == size);
}

} // namespace ibd
