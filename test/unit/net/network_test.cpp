// Whole networks over loopback: handshakes by both transports, back-pressure, bans, bounds, and
// strangers that send garbage, or nothing.
#include "net/network_support.h"

#include "net/socket/channel.h"
#include "net/socket/input_room.h"
#include "support/clock_env.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

void WithoutV2(PeerNetworkOptions& options) { options.peers.services &= ~kNodeP2pV2; }

/** Wants no block, and takes none, so that blocks wait; until `has_room`. */
class FullSink final : public DownloadGoal, public BlockSink {
public:
    const HeaderNode* NextMissing(int32_t) const override { return nullptr; }
    bool Have(const HeaderNode&) const override { return true; }
    int32_t WindowEnd() const override { return 0; }
    bool HasRoom(size_t) const override { return has_room; }
    bool Put(PeerBlock&&) override { return true; }
    std::vector<RefusedBlock> TakeRefused() override { return {}; }

    std::atomic<bool> has_room{false};
};

/** Peers that send blocks without being asked, as fast as they are taken. */
class Crowd {
public:
    explicit Crowd(const Endpoint& to)
    {
        for (int i = 0; i < 8; ++i) {
            m_peers.push_back({RawPeer(to, 32'768)});
            m_peers.back().peer.ShakeHands();
        }
    }
    static size_t MostReceived() { return 8 * 4 * InputRoom::kShortMessage; } //!< besides the room
    /** Whether anything was taken. */
    bool WriteSome()
    {
        bool any = false;
        for (Member& member : m_peers) {
            const ByteSpan left = ByteSpan(m_block).subspan(member.sent);
            const size_t taken = member.peer.socket.WriteSome(left);
            member.sent += taken;
            any |= taken > 0;
        }
        return any;
    }
    size_t Finished() const
    {
        return static_cast<size_t>(
            std::count_if(m_peers.begin(), m_peers.end(),
                          [&](const Member& member) { return member.sent == m_block.size(); }));
    }
    size_t Size() const { return m_peers.size(); }
    /** Leaves one after another, all at once, in the middle of a message. */
    void Leave() { m_peers.clear(); }

private:
    struct Member {
        RawPeer peer;
        size_t sent = 0;
    };
    std::vector<Member> m_peers;
    const Bytes m_block = RawPeer::Frame({"block", Bytes(kMaxPayload, 7)});
};

} // namespace

TEST_CASE("two networks meet", "[network]")
{
    const bool v2 = GENERATE(true, false);
    NetworkKit server;
    NetworkKit client;
    client.network->Control().TryNode(server.Address().ToString(), v2);
    const PeerInfo called = client.OnlyPeer();
    const PeerInfo caller = server.OnlyPeer();
    const std::string name = v2 ? "v2" : "v1";
    CHECK(called.traffic.transport.ProtocolName() == name);
    CHECK(caller.traffic.transport.ProtocolName() == name);
    CHECK(called.traffic.transport.session_id == caller.traffic.transport.session_id);
    CHECK(called.traffic.transport.session_id.has_value() == v2);
    CHECK(called.connection.kind == ConnectionKind::kManual);
    CHECK(called.connection.address == server.Address());
    CHECK(called.connection.name == server.Address().ToString());
    CHECK(caller.connection.kind == ConnectionKind::kInbound);
    CHECK(caller.connection.address == called.connection.local);
    CHECK(caller.connection.local == server.Address());
    CHECK(called.user_agent == "/test:1/");

    // Twice is once.
    client.network->Control().TryNode(server.Address().ToString(), v2);
    WaitFor("messages to be counted", [&] {
        const PeerInfo info = client.OnlyPeer();
        return info.sent_by_type.contains("verack") && info.received_by_type.contains("verack");
    });
    const PeerInfo info = client.OnlyPeer();
    CHECK(info.sent_by_type.at("verack") == (v2 ? 33 : 24));
    CHECK(info.received_by_type.at("verack") == (v2 ? 33 : 24));
    const auto counts = server.network->Info().Counts();
    CHECK(counts.in == 1);
    CHECK(counts.out == 0);
    const auto totals = client.network->Info().Traffic();
    CHECK(totals.sent >= info.traffic.bytes_sent);
    CHECK(info.traffic.bytes_sent > 100);
    CHECK(totals.received > 100);

    CHECK(client.network->Control().Disconnect(info.connection.id));
    CHECK_FALSE(client.network->Control().Disconnect("1.2.3.4:5"));
    client.WaitForPeers(0);
    server.WaitForPeers(0);
}

TEST_CASE("a peer that only speaks v1 is connected again by v1", "[network]")
{
    NetworkKit server(WithoutV2);
    NetworkKit client;
    client.network->Control().TryNode(server.Address().ToString(), true);
    const PeerInfo info = client.OnlyPeer();
    CHECK(info.traffic.transport.ProtocolName() == std::string("v1"));
    CHECK(info.connection.id == 1); // the first had no effect
    server.WaitForPeers(1);
}

TEST_CASE("headers and blocks go over it", "[network]")
{
    NetworkKit server([](PeerNetworkOptions&) {}, 50);
    NetworkKit client;
    client.network->Control().AddNode(server.Address().ToString(), true);
    WaitFor("headers", [&] {
        const auto peers = client.network->Info().Peers();
        return peers.size() == 1 && peers[0].synced_headers == 50;
    });
    CHECK(client.network->Info().Peers().at(0).synced_blocks == -1); // no block was fetched
    const auto added = client.network->Control().AddedNodes();
    REQUIRE(added.size() == 1);
    CHECK(added[0].connected);
    CHECK_FALSE(added[0].inbound);
    CHECK(added[0].address == server.Address());
    CHECK_FALSE(client.network->Control().AddNode(server.Address().ToString(), true));
    CHECK(client.network->Control().RemoveNode(server.Address().ToString()));
    CHECK_FALSE(client.network->Control().RemoveNode(server.Address().ToString()));
    CHECK(client.network->Control().AddedNodes().empty());
}

TEST_CASE("-connect calls by itself", "[network]")
{
    NetworkKit server;
    NetworkKit client(
        [&](PeerNetworkOptions& options) { options.connect = {server.Address().ToString()}; });
    CHECK(client.OnlyPeer().connection.kind == ConnectionKind::kManual);
    // And again, once it is gone.
    CHECK(client.network->Control().Disconnect(PeerId{0}));
    WaitFor("a second call", [&] {
        const auto peers = client.network->Info().Peers();
        return peers.size() == 1 && peers[0].connection.id == 1;
    });
}

TEST_CASE("the node stops reading from a peer that requests much and reads nothing", "[network]")
{
    NetworkKit kit([](PeerNetworkOptions& options) {
        options.max_send_buffer = 10'000;
        options.max_receive_buffer = 10'000;
    });
    RawPeer peer(kit.Address(), 32'768);
    peer.ShakeHands();
    // More than the system's buffers hold: they grow only if the peer reads.
    constexpr size_t kPings = 150'000;
    const Bytes ping = RawPeer::Frame(MakeOutgoing(PingMessage{7}));
    Bytes many;
    for (int i = 0; i < 2'000; ++i) many.insert(many.end(), ping.begin(), ping.end());
    const size_t all = kPings * ping.size();
    size_t sent = 0;
    size_t pongs = 0;
    bool was_full = false;
    while (pongs < kPings) {
        const size_t offset = sent % many.size();
        const size_t most = std::min(many.size() - offset, all - sent);
        const size_t taken =
            most == 0 ? 0 : peer.socket.WriteSome(ByteSpan(many).subspan(offset, most));
        sent += taken;
        if (taken > 0) continue;
        if (sent < all) was_full = true;
        const size_t answered = std::min(sent / ping.size(), pongs + 1'000);
        for (; pongs < answered; ++pongs) (void)peer.HearType("pong");
    }
    CHECK(was_full);
    CHECK(sent == all);
}

TEST_CASE("what strangers send has a bound, whether they stay, leave or come again", "[network]")
{
    FullSink sink;
    NetworkKit kit(WithoutV2);
    kit.network->Blocks().DownloadInto(sink, sink);
    size_t most = InputRoom::kStrangersBytes;
    for (int round = 0; round < 4; ++round) {
        most += Crowd::MostReceived();
        Crowd crowd(kit.Address());
        if (round == 0) {
            WaitFor("the messages that fit", [&] {
                (void)crowd.WriteSome();
                return crowd.Finished() == InputRoom::kStrangersBytes / kMaxPayload;
            });
        }
        // As long as anything moves, and for some time more.
        for (int idle = 0; idle < 20;) {
            idle = crowd.WriteSome() ? 0 : idle + 1;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        CHECK(kit.network->Info().Traffic().received <= most);
        if (round == 0) CHECK(crowd.Finished() == InputRoom::kStrangersBytes / kMaxPayload);
        CHECK(crowd.Finished() < crowd.Size());
    }
    // Their messages are processed, and others are served.
    sink.has_room = true;
    kit.WaitForPeers(0);
    Crowd crowd(kit.Address());
    WaitFor("all blocks", [&] { return !crowd.WriteSome() && crowd.Finished() == crowd.Size(); });
    crowd.Leave();
    kit.WaitForPeers(0);
    kit.network->Blocks().StopDownload();
}

TEST_CASE("strangers that stop in the middle of messages give way to others", "[network]")
{
    auto machine = std::make_unique<ClockEnv>();
    ClockEnv& clock = *machine;
    NetworkKit kit(WithoutV2, 0, std::move(machine));
    const Bytes message = RawPeer::Frame({"unknown", Bytes(kMaxPayload, 7)});
    const auto write = [&](RawPeer& peer) {
        return peer.socket.Write(ByteSpan(message).first(message.size() - 1));
    };
    std::deque<RawPeer> slow;
    for (size_t i = 0; i < InputRoom::kStrangersBytes / kMaxPayload; ++i) {
        slow.emplace_back(kit.Address()).ShakeHands();
        REQUIRE(write(slow.back()));
    }
    RawPeer other(kit.Address(), 32'768);
    other.ShakeHands();
    kit.WaitForPeers(slow.size() + 1);
    // They keep their memory while no other connection needs it.
    clock.micros += 2 * InputRoom::kPatience;
    REQUIRE(other.Say(PingMessage{1}));
    (void)other.HearType("pong");
    CHECK(kit.network->Info().Peers().size() == slow.size() + 1);
    REQUIRE(other.socket.Write(message));
    REQUIRE(other.Say(PingMessage{2}));
    CHECK(Must(Decode<PongMessage>(other.HearType("pong").payload)).nonce == 2);
    kit.WaitForPeers(1);
    for (RawPeer& peer : slow) peer.socket.WaitForClose();
}

TEST_CASE("strangers that do not take their answers give way to others", "[network]")
{
    FullSink sink;
    auto machine = std::make_unique<ClockEnv>();
    ClockEnv& clock = *machine;
    NetworkKit kit(
        [](PeerNetworkOptions& options) {
            WithoutV2(options);
            options.max_send_buffer = 10'000;
        },
        0, std::move(machine));
    kit.network->Blocks().DownloadInto(sink, sink);
    const Bytes ping = RawPeer::Frame(MakeOutgoing(PingMessage{7}));
    Bytes many;
    for (int i = 0; i < 2'000; ++i) Append(many, ping);
    std::deque<RawPeer> slow;
    std::vector<size_t> sent(3);
    for (size_t i = 0; i < sent.size(); ++i) {
        slow.emplace_back(kit.Address(), 32'768).ShakeHands();
    }
    // The system holds megabytes of answers before the node has unread input. Until it has much,
    // and answers no more.
    constexpr auto kMuch = static_cast<int64_t>(InputRoom::kStrangersPause * 3 / 4);
    static_assert(kMuch + 2 * int64_t{kMaxPayload} > int64_t{InputRoom::kStrangersBytes});
    int64_t answered = 0;
    int polls = 0; // without an answer
    WaitFor("much unread input", [&] {
        for (size_t i = 0; i < sent.size(); ++i) {
            const ByteSpan left = ByteSpan(many).subspan(sent[i] % many.size());
            sent[i] += slow[i].socket.WriteSome(left);
        }
        int64_t received = 0;
        const int64_t before = std::exchange(answered, 0);
        for (const PeerInfo& peer : kit.network->Info().Peers()) {
            received += static_cast<int64_t>(peer.traffic.bytes_received);
            answered += static_cast<int64_t>(peer.traffic.bytes_sent);
        }
        const int64_t pings = (received - answered) / static_cast<int64_t>(ping.size());
        constexpr int64_t kInMemory = sizeof(PingMessage::nonce) + Channel::kMessageOverhead;
        const bool is_done = pings * kInMemory > kMuch && answered == before;
        polls = is_done ? polls + 1 : 0;
        return polls == 100;
    });
    // One more long message fits, and no connection is closed for it.
    RawPeer patient(kit.Address());
    patient.ShakeHands();
    REQUIRE(patient.socket.Write(RawPeer::Frame({"block", Bytes(kMaxPayload, 7)})));
    CHECK(kit.network->Info().Peers().size() == slow.size() + 1);
    RawPeer other(kit.Address(), 32'768);
    other.ShakeHands();
    const Bytes message = RawPeer::Frame({"unknown", Bytes(kMaxPayload, 7)});
    size_t done = 0;
    WaitFor("room for others", [&] {
        done += other.socket.WriteSome(ByteSpan(message).subspan(done));
        clock.micros += InputRoom::kPatience / 2;
        return done == message.size();
    });
    WaitFor("the end of a slow one",
            [&] { return kit.network->Info().Peers().size() < slow.size() + 2; });
    REQUIRE(other.Say(PingMessage{2}));
    CHECK(Must(Decode<PongMessage>(other.HearType("pong").payload)).nonce == 2);
    kit.network->Blocks().StopDownload();
}

TEST_CASE("strangers that send garbage, or nothing", "[network]")
{
    NetworkKit kit;
    RawSocket silent(kit.Address());
    RawSocket half(kit.Address());
    REQUIRE(half.Write(Bytes{0xfa, 0xbf, 0xb5}));

    // A v1 header of another network, which as a key of v2 would be one: the answer is a key.
    RawSocket other(kit.Address());
    REQUIRE(other.Write(Bytes(64, 0x55)));
    CHECK_FALSE(other.Read().empty());
    REQUIRE(other.Write(Bytes(4096 + 16, 0x55))); // no terminator of garbage within bounds
    other.WaitForClose();

    RawSocket v1(kit.Address());
    Bytes wrong = RawPeer::Frame(MakeOutgoing(TestNode::Version()));
    REQUIRE(v1.Write(wrong));
    REQUIRE(v1.Write(Bytes(24, 0x11))); // no header
    v1.WaitForClose();

    // The others are still welcome.
    RawPeer good(kit.Address());
    good.ShakeHands();
    WaitFor("three peers", [&] { return kit.network->Info().Peers().size() == 3; });
    silent.Close();
    half.Close();
    kit.WaitForPeers(1);
}

TEST_CASE("a message with a wrong checksum is dropped, the peer is not", "[network]")
{
    NetworkKit kit;
    RawPeer peer(kit.Address());
    peer.ShakeHands();
    Bytes ping = RawPeer::Frame(MakeOutgoing(PingMessage{1}));
    ping[20] ^= 1;
    REQUIRE(peer.socket.Write(ping));
    REQUIRE(peer.Say(PingMessage{2}));
    while (true) {
        const ReceivedMessage pong = peer.HearType("pong");
        if (Must(Decode<PongMessage>(pong.payload)).nonce == 2) break;
        FAIL("an answer to what was damaged");
    }
    const PeerInfo info = kit.OnlyPeer();
    CHECK(info.received_by_type.at("*other*") == ping.size());
    CHECK(info.received_by_type.at("ping") == ping.size());
}

TEST_CASE("bans and the switch", "[network]")
{
    std::map<Subnet, BanEntry> saved;
    NetworkKit kit;
    const Subnet all = *Subnet::Parse("127.0.0.0/8");
    RawPeer peer(kit.Address());
    peer.ShakeHands();
    CHECK(kit.network->Bans().Ban(all, 100, false));
    CHECK_FALSE(kit.network->Bans().Ban(all, 50, false));
    CHECK(kit.network->Bans().IsBanned(all));
    CHECK(kit.network->Bans().IsBanned(*NetAddress::Parse("127.0.0.1")));
    CHECK(kit.network->Bans().All().size() == 1);
    peer.socket.WaitForClose();
    RawSocket refused(kit.Address());
    refused.WaitForClose();
    CHECK(kit.network->Bans().Unban(all));
    RawPeer again(kit.Address());
    again.ShakeHands();

    kit.network->Control().SetActive(false);
    CHECK_FALSE(kit.network->Info().IsActive());
    again.socket.WaitForClose();
    RawSocket dropped(kit.Address());
    dropped.WaitForClose();
    kit.network->Control().SetActive(true);
    RawPeer third(kit.Address());
    third.ShakeHands();
}

TEST_CASE("a full house makes room, or not", "[network]")
{
    // 8 and 2 and 1 are reserved for outbound peers.
    constexpr size_t kInbound = 30;
    NetworkKit kit([](PeerNetworkOptions& options) { options.max_connections = kInbound + 11; });
    std::vector<RawSocket> sockets;
    for (size_t i = 0; i < kInbound; ++i) sockets.emplace_back(kit.Address());
    kit.WaitForPeers(kInbound);
    // A peer without protection is evicted.
    RawPeer more(kit.Address());
    more.ShakeHands();
    kit.WaitForPeers(kInbound);

    NetworkKit none([](PeerNetworkOptions& options) { options.max_connections = 11; });
    RawSocket refused(none.Address());
    refused.WaitForClose();
    CHECK(none.network->Info().Peers().empty());
}

TEST_CASE("many come and go", "[network]")
{
    NetworkKit kit([](PeerNetworkOptions& options) { options.max_connections = 1000; });
    for (int round = 0; round < 3; ++round) {
        std::vector<RawSocket> sockets;
        for (int i = 0; i < 200; ++i) sockets.emplace_back(kit.Address());
        kit.WaitForPeers(200);
        sockets.clear();
        kit.WaitForPeers(0);
    }
}

TEST_CASE("permissions by address", "[network]")
{
    NetworkKit kit([](PeerNetworkOptions& options) {
        options.binds.push_back({Loopback(0), kPermitMempool, false});
        options.binds.push_back({Loopback(0), kPermitNone, true});
        options.whitelist = {Must(ParseWhitelist("relay@127.0.0.0/8", false))};
    });
    const auto listening = kit.network->Info().Listening();
    REQUIRE(listening.size() == 3);
    RawPeer plain(listening[0]);
    plain.ShakeHands();
    RawPeer bound(listening[1]);
    bound.ShakeHands();
    RawPeer onion(listening[2]);
    onion.ShakeHands();
    kit.WaitForPeers(3);
    std::map<Endpoint, NewPeer> by_local;
    for (const PeerInfo& info : kit.network->Info().Peers()) {
        by_local[info.connection.local] = info.connection;
    }
    CHECK(by_local[listening[0]].permissions == kPermitRelay);
    CHECK(by_local[listening[1]].permissions == (kPermitRelay | kPermitMempool));
    CHECK(by_local[listening[2]].permissions == kPermitNone);
    CHECK(by_local[listening[2]].inbound_onion);
    CHECK(by_local[listening[2]].Network() == AddressNetwork::kOnion);
    CHECK(by_local[listening[0]].Network() == AddressNetwork::kUnroutable);
}

TEST_CASE("two cannot listen at one address", "[network]")
{
    NetworkKit kit;
    TempDir folder;
    const auto env = MakePosixEnv();
    const auto logger = MakeNullLogger();
    const ChainParams params = RegtestParams();
    TestChain chain(params);
    PeerNetworkOptions options = QuietOptions(folder.Get());
    options.binds = {{kit.Address(), kPermitNone, false}};
    PeerNetwork second({*env, *logger, params, chain, chain, chain, [] { return kStart; }, nullptr},
                       options);
    const auto started = second.Start();
    REQUIRE_FALSE(started);
    CHECK(started.Message() ==
          "Unable to bind to " + kit.Address().ToString() +
              " on this computer. ibd-booster is probably already running.\nError: Failed to "
              "listen on any port. Use -listen=0 if you want this.");
    CHECK(second.Info().Peers().empty()); // asked without a thread
}

TEST_CASE("it stops while it connects", "[network]")
{
    RawListener deaf; // takes the call, and says nothing
    NetworkKit kit([&](PeerNetworkOptions& options) {
        options.proxies[AddressNetwork::kIpv4] = {deaf.Address(), "", true};
        options.names = false;
    });
    kit.network->Control().TryNode("name.invalid", true);
    const std::jthread call([&] { kit.network->Control().TryNode("1.2.3.4:8333", true); });
    const RawSocket proxied = deaf.Accept();
    kit.network->Stop();
    kit.network->Control().TryNode("1.2.3.5:8333", true); // too late, and no harm
    CHECK(kit.network->Info().Peers().empty());
}

} // namespace ibd
