// Transactions of users that are sent without the pool: the queue, the messages that peers of such
// connections get, and the removal of a transaction.
#include "net/peer_store.h"
#include "sim/model_pool.h"

#include "support/catch.h"

namespace ibd {

using namespace test;
using sim::MakeModelTx;
using sim::ModelCoin;

namespace {

constexpr ConnectionKind kPrivate = ConnectionKind::kPrivateBroadcast;
const char* const kOnion = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:8333";

TransactionRef Simple(uint32_t n, Bytes witness = {})
{
    return MakeModelTx({ModelCoin(n)}, 1'000, std::move(witness));
}

/** Counts addresses that peers announce. */
class CountingBook final : public AddressBook {
public:
    void Heard(const std::vector<PeerAddress>&, const NetAddress&, int64_t) override { ++calls; }
    void Good(const Endpoint&) override { ++calls; }
    void SetServices(const Endpoint&, uint64_t) override {}
    void Connected(const Endpoint&) override { ++calls; }
    bool IsUnwanted(const NetAddress&) const override { return false; }
    bool Listens() const override { return true; }
    bool IsReachable(const NetAddress&) const override { return true; }
    std::vector<PeerAddress> Answer(const NewPeer&, bool) override { return {}; }
    void SeenAs(const Endpoint&) override { ++calls; }
    std::optional<Endpoint> OwnAddressFor(const NewPeer&, const Endpoint&) override
    {
        return std::nullopt;
    }

    int calls = 0;
};

struct Scene {
    Scene()
    {
        node.chain.first_time = kStart - 100;
        node.chain.Extend(3);
        node.Run();
    }
    PrivateRelay& Relay() { return node.manager.Private(); }
    PeerId Connect(VersionMessage version = TestNode::Version())
    {
        const PeerId id = node.Connect(kPrivate, kOnion);
        hello = node.Take<VersionMessage>(id);
        node.Say(id, version);
        return id;
    }
    /** Until the peer has an announcement. */
    PeerId Greet()
    {
        const PeerId id = Connect();
        node.Say(id, VerackMessage{});
        return id;
    }
    void Ask(PeerId peer, uint32_t type, const Uint256& hash)
    {
        GetDataMessage message;
        message.list.items = {{type, hash}};
        node.Say(peer, message);
    }
    /** The peer fetches and confirms. */
    void Confirm(PeerId peer, const TransactionRef& tx)
    {
        Ask(peer, kInvTx, tx->Id());
        const auto pings = node.Take<PingMessage>(peer);
        REQUIRE(pings.size() == 1);
        node.Say(peer, PongMessage{pings[0].nonce});
    }
    void FindStale()
    {
        Relay().FindStale();
        node.Run();
        while (pool.HasNews()) node.Run();
    }

    sim::ModelPool pool;
    CountingBook book;
    TestNode node{RegtestParams(), {}, 1, &book, nullptr, nullptr, &pool};
    std::vector<VersionMessage> hello;
};

} // namespace

TEST_CASE("the queue sends what was sent least, and is bounded", "[private]")
{
    PrivateQueue queue;
    const Endpoint address = *Endpoint::Parse(kOnion, 8333);
    CHECK(queue.IsEmpty());
    CHECK(queue.Pick(1, address, 10) == nullptr);
    const TransactionRef first = Simple(1), second = Simple(2);
    CHECK(queue.Add(first, 10) == PrivateAddition::kAdded);
    CHECK(queue.Add(first, 11) == PrivateAddition::kThere);
    CHECK(queue.Add(second, 11) == PrivateAddition::kAdded);
    CHECK(queue.Pick(1, address, 20) == first);
    CHECK(queue.Pick(2, address, 21) == second);
    queue.Confirm(1, 22);
    CHECK(queue.Pick(3, address, 23) == second); // fewer have confirmed it
    CHECK(queue.Pick(4, address, 24) == first);
    CHECK(queue.TxOf(3) == second);
    CHECK(queue.TxOf(9) == nullptr);
    REQUIRE(queue.All().size() == 2);
    CHECK(queue.All()[0].tx == first);
    CHECK(queue.All()[0].sends[0].received == 22);
    CHECK(queue.All()[0].sends[1].sent == 24);
    CHECK_FALSE(queue.All()[0].sends[1].received);
    CHECK(queue.Forget(1));
    CHECK_FALSE(queue.Forget(2));
    CHECK_FALSE(queue.Forget(1));
    CHECK(queue.Remove(first->WitnessId()) == 1);
    CHECK_FALSE(queue.Remove(first->WitnessId()));
    CHECK(queue.TxOf(4) == nullptr);

    for (PeerId peer = 100; peer < 100 + 2 * int64_t{PrivateQueue::kMaxSends}; ++peer) {
        (void)queue.Pick(peer, address, 30);
    }
    CHECK(queue.All()[0].sends.size() == PrivateQueue::kMaxSends);
    for (uint32_t i = 10; queue.Add(Simple(i), 40) == PrivateAddition::kAdded; ++i) {
    }
    CHECK(queue.All().size() == PrivateQueue::kMaxTxs);
}

TEST_CASE("a transaction is stale five minutes after it came, or one after a confirmation",
          "[private]")
{
    PrivateQueue queue;
    const TransactionRef tx = Simple(1);
    (void)queue.Add(tx, 1'000);
    CHECK(queue.Stale(1'000 + PrivateQueue::kFirstWait).empty());
    CHECK(queue.Stale(1'001 + PrivateQueue::kFirstWait).size() == 1);
    (void)queue.Pick(1, *Endpoint::Parse(kOnion, 8333), 2'000);
    queue.Confirm(1, 2'000);
    CHECK(queue.Stale(2'000 + PrivateQueue::kWait).empty());
    CHECK(queue.Stale(2'001 + PrivateQueue::kWait) == std::vector{tx});
}

TEST_CASE("a private peer learns one transaction, and nothing of the node", "[private]")
{
    Scene scene;
    const TransactionRef tx = Simple(1, Bytes{1}), other = Simple(2);
    scene.pool.Add(other);
    CHECK(scene.Relay().Send(tx) == PrivateAddition::kAdded);
    CHECK(scene.Relay().Missing() == PrivateRelay::kSends);
    const PeerId peer = scene.Connect();
    CHECK(scene.Relay().Missing() == PrivateRelay::kSends - 1);
    REQUIRE(scene.hello.size() == 1);
    VersionMessage plain; // of all nodes
    plain.nonce = scene.hello[0].nonce;
    plain.version = kWtxidRelayVersion;
    plain.user_agent = "/pynode:0.0.1/";
    plain.start_height = 0;
    plain.relay = false;
    CHECK(Encode(scene.hello[0]) == Encode(plain));
    CHECK(scene.node.Types(peer) == std::vector<std::string>{"verack"});
    scene.node.Say(peer, VerackMessage{});
    const auto told = scene.node.Take<InvMessage>(peer);
    REQUIRE(told.size() == 1);
    CHECK(told[0].list.items == std::vector<InventoryItem>{{kInvTx, tx->Id()}});
    // Its other messages have no effect, also later.
    scene.node.Say(peer, TxMessage{Simple(3)});
    scene.node.Say(peer, GetAddrMessage{});
    scene.node.Say(peer, MempoolMessage{});
    scene.node.SayRaw(peer, "getheaders", Bytes(3));
    scene.node.SayRaw(peer, "nonsense");
    scene.node.MoveTime(150);
    CHECK(scene.node.Types(peer).empty());
    CHECK(scene.pool.offers.empty());
    CHECK(scene.book.calls == 0);
    scene.Ask(peer, kInvTx, tx->Id());
    REQUIRE(scene.node.link.sent[peer].size() == 2);
    CHECK(scene.node.link.sent[peer][0].type == "tx");
    CHECK(scene.node.link.sent[peer][0].payload ==
          Bytes(tx->View().raw.begin(), tx->View().raw.end()));
    const auto pings = scene.node.Take<PingMessage>(peer);
    REQUIRE(pings.size() == 1);
    scene.node.Say(peer, PongMessage{pings[0].nonce + 1});
    CHECK_FALSE(scene.node.IsClosed(peer));
    scene.node.Say(peer, PongMessage{pings[0].nonce});
    CHECK(scene.node.IsClosed(peer));
    CHECK(scene.Relay().All()[0].sends[0].received.has_value());
    scene.node.manager.Disconnected(peer);
    CHECK(scene.Relay().Missing() == PrivateRelay::kSends - 1);
    CHECK_FALSE(scene.pool.HasTx(tx));
    CHECK(scene.book.calls == 0);
}

TEST_CASE("a private peer that does not take the transaction is replaced", "[private]")
{
    Scene scene;
    const TransactionRef tx = Simple(1, Bytes{1});
    (void)scene.Relay().Send(tx);
    const auto check_closed = [&](PeerId peer, bool sent) {
        CHECK(scene.node.IsClosed(peer));
        CHECK(scene.Relay().All()[0].sends.size() == (sent ? 1u : 0u));
        scene.node.manager.Disconnected(peer);
        CHECK(scene.Relay().Missing() == PrivateRelay::kSends);
    };
    SECTION("it wants no transactions")
    {
        VersionMessage version = TestNode::Version();
        version.relay = false;
        check_closed(scene.Connect(version), false);
    }
    SECTION("it offers no blocks")
    {
        VersionMessage version = TestNode::Version();
        version.services = kNodeNone;
        check_closed(scene.Connect(version), false);
    }
    SECTION("it asks for another, or in another way")
    {
        const auto [type, hash] =
            GENERATE_COPY(std::pair{kInvTx, Simple(2)->Id()}, std::pair{kInvWtx, tx->WitnessId()},
                          std::pair{kInvWitnessTx, tx->Id()});
        const PeerId peer = scene.Greet();
        scene.Ask(peer, type, hash);
        check_closed(peer, true);
    }
    SECTION("it does not answer")
    {
        const PeerId peer = scene.Greet();
        scene.node.MoveTime(PrivateRelay::kMaxLifetime / kSecond);
        CHECK_FALSE(scene.node.IsClosed(peer));
        scene.node.MoveTime(1);
        check_closed(peer, true);
    }
    SECTION("the user stops it")
    {
        const PeerId peer = scene.Greet();
        CHECK(scene.Relay().Abort(tx->Id()) == std::vector{tx});
        CHECK(scene.Relay().Abort(tx->WitnessId()).empty());
        CHECK(scene.Relay().Missing() == 0);
        scene.Ask(peer, kInvTx, tx->Id());
        CHECK(scene.node.IsClosed(peer));
        scene.node.manager.Disconnected(peer);
        CHECK(scene.Relay().Missing() == 0);
        CHECK(scene.node.IsClosed(scene.Greet())); // connected without need
    }
}

TEST_CASE("a transaction that comes back is not sent any more", "[private]")
{
    Scene scene;
    const TransactionRef tx = Simple(1, Bytes{1}), rewitnessed = Simple(1, Bytes{2});
    (void)scene.Relay().Send(tx);
    scene.Confirm(scene.Greet(), tx);
    CHECK(scene.Relay().Missing() == PrivateRelay::kSends - 1);
    const PeerId peer = scene.node.Befriend(ConnectionKind::kOutboundFullRelay);
    scene.node.Say(peer, TxMessage{rewitnessed}); // another witness
    CHECK(scene.Relay().All().size() == 1);
    scene.node.Say(peer, TxMessage{tx});
    CHECK(scene.Relay().All().empty());
    CHECK(scene.Relay().Missing() == 0);
}

TEST_CASE("a transaction is sent again while the pool would take it", "[private]")
{
    Scene scene;
    const TransactionRef tx = Simple(1), spent = MakeModelTx({ModelCoin(1)}, 2'000);
    (void)scene.Relay().Send(tx);
    for (size_t i = 0; i < PrivateRelay::kSends; ++i) scene.Confirm(scene.Greet(), tx);
    CHECK(scene.Relay().Missing() == 0);
    scene.node.MoveTime(PrivateQueue::kWait + 1);
    CHECK(scene.Relay().Missing() == 0); // not looked for yet
    scene.FindStale();
    CHECK(scene.Relay().Missing() == 1);
    CHECK_FALSE(scene.pool.HasTx(tx));
    scene.Confirm(scene.Greet(), tx);
    // A conflicting transaction was received: this one will not be mined.
    scene.pool.Add(spent);
    scene.node.MoveTime(PrivateQueue::kWait + 1);
    scene.FindStale();
    CHECK(scene.Relay().Missing() == 0);
    CHECK(scene.Relay().All().empty());
}

TEST_CASE("no block is requested from a private peer", "[private]")
{
    Scene scene;
    test::Store store(scene.node);
    (void)scene.Relay().Send(Simple(1));
    const PeerId peer = scene.Greet();
    const Result<> fetched = scene.node.manager.FetchBlock(peer, scene.node.chain.Tip());
    REQUIRE_FALSE(fetched.Ok());
    CHECK(fetched.Message() == "Peer does not exist");
    CHECK(scene.node.Take<GetDataMessage>(peer).empty());
}

} // namespace ibd
