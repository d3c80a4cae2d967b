// Compact blocks between peers: announcements, requests, answers, and the treatment of peers that
// send malformed data.
#include "net/peer_store.h"
#include "sim/model_pool.h"

#include "support/catch.h"

namespace ibd {

using namespace test;
using Types = std::vector<std::string>;

namespace {

constexpr uint32_t kSpends = 4;

/** A node that has caught up, and a chain of the same blocks that is ahead of it. */
struct Scene {
    explicit Scene(PeerOptions options = {}, const TransactionSource* pool = nullptr,
                   PeerPool* tx_pool = nullptr)
        : node(RegtestParams(), std::move(options), 1, nullptr, pool, nullptr, tx_pool)
    {
        for (TestChain* chain : {&node.chain, &theirs}) {
            chain->first_time = kStart - 100;
            chain->Extend(12);
        }
    }

    PeerId Befriend(ConnectionKind kind, const char* address)
    {
        const PeerId peer = node.Befriend(kind, address);
        node.Say(peer, SendCompactMessage{});
        return peer;
    }
    /** The next block of their chain. */
    const MadeBlock& Next(uint32_t salt = 0)
    {
        return theirs.Block(theirs.Extend(1, nullptr, salt, true, kSpends));
    }
    /** A peer announces the block, and the node requests it. */
    void Announce(PeerId peer, const MadeBlock& block)
    {
        node.Say(peer, HeadersOf({block.header}));
        REQUIRE(Asked(node, peer).size() == 1);
    }
    static CompactBlockMessage Compact(const MadeBlock& block)
    {
        BlockView view;
        REQUIRE(view.Parse(block.raw));
        return MakeCompactBlock(view, 5);
    }
    static BlockTxnMessage Answer(const MadeBlock& block, const std::vector<uint16_t>& indexes)
    {
        BlockView view;
        REQUIRE(view.Parse(block.raw));
        return *Decode<BlockTxnMessage>(*BlockTxnPayload(view, indexes));
    }
    /** The transactions requested from the peer to complete a block; empty: none. */
    std::vector<uint16_t> Missing(PeerId peer)
    {
        const auto requests = node.Take<GetBlockTxnMessage>(peer);
        CHECK(requests.size() <= 1);
        return requests.empty() ? std::vector<uint16_t>{} : requests[0].indexes;
    }
    bool Has(const MadeBlock& block) { return node.chain.Tip().hash == block.header.Hash(); }

    TestNode node;
    TestChain theirs{node.params};
    Store store{node};
};

const std::vector<uint16_t> kAllButCoinbase{1, 2, 3, 4};

} // namespace

TEST_CASE("a block that alone is missing is asked for as a compact one", "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const MadeBlock& block = scene.Next();
    node.Say(peer, HeadersOf({block.header}));
    const auto asked = Asked(node, peer);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].type == kInvCompactBlock);
    node.Say(peer, Scene::Compact(block));
    CHECK(scene.Missing(peer) == kAllButCoinbase);
    CHECK(node.Info(peer).in_flight == std::vector<int32_t>{13});
    node.Say(peer, Scene::Compact(block)); // again: the first one is under way
    CHECK(scene.Missing(peer).empty());
    node.Say(peer, Scene::Answer(block, kAllButCoinbase));
    CHECK(scene.Has(block));
    CHECK(node.Info(peer).in_flight.empty());

    // Two at once come whole, and so does one from a peer that has no compact ones.
    const MadeBlock first = scene.Next();
    const MadeBlock& second = scene.Next();
    node.Say(peer, HeadersOf({first.header, second.header}));
    for (const InventoryItem& item : Asked(node, peer)) CHECK(item.type == kInvWitnessBlock);
    node.SayRaw(peer, "block", first.raw);
    node.SayRaw(peer, "block", second.raw);
    REQUIRE(scene.Has(second));
    const PeerId plain = node.Befriend(ConnectionKind::kInbound, "1.1.1.2:1");
    node.Say(plain, HeadersOf({scene.Next().header}));
    const auto whole = Asked(node, plain);
    REQUIRE(whole.size() == 1);
    CHECK(whole[0].type == kInvWitnessBlock);
}

TEST_CASE("a block that was asked for does not wait for the turn of its peer", "[peer_compact]")
{
    constexpr int kBusy = 50;
    Scene scene;
    TestNode& node = scene.node;
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    std::vector<PeerId> busy;
    for (int i = 0; i < kBusy; ++i) {
        busy.push_back(scene.Befriend(ConnectionKind::kInbound, "1.1.1.2:1"));
    }
    const MadeBlock& block = scene.Next();
    scene.Announce(peer, block);
    const auto send = [&](PeerId from, std::string_view type, Bytes payload) {
        node.manager.Received(from, {std::string(type), std::move(payload), 0, ""});
    };
    for (const PeerId other : busy) {
        for (uint64_t i = 0; i < 10; ++i) send(other, PingMessage::kType, Encode(PingMessage{i}));
    }
    node.env.micros_for_a_look = PeerManager::kWorkTime; // one peer at a time
    node.manager.Work();
    node.manager.Work();
    send(peer, CompactBlockMessage::kType, Encode(Scene::Compact(block)));
    node.manager.Work();
    CHECK(scene.Missing(peer) == kAllButCoinbase);
    send(peer, BlockTxnMessage::kType, Encode(Scene::Answer(block, kAllButCoinbase)));
    node.manager.Work();
    node.manager.Work();
    CHECK(scene.Has(block));
    // All peers get their answers.
    node.Run();
    for (const PeerId other : busy) CHECK(node.Take<PongMessage>(other).size() == 10);
}

TEST_CASE("compact blocks that are of no use", "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId silent = node.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound, "1.1.1.2:1");
    const MadeBlock& block = scene.Next();
    node.Say(silent, Scene::Compact(block)); // never said that it has any
    CHECK(node.chain.Find(block.header.Hash()) == nullptr);
    node.Say(peer, Scene::Compact(block)); // was not asked to announce by them
    CHECK(node.chain.Find(block.header.Hash()));
    CHECK(scene.Missing(peer).empty());
    const auto fetched = node.Info(peer).in_flight; // but it is known to have the block now
    CHECK(fetched == std::vector<int32_t>{13});

    node.Say(peer, HeadersMessage{}); // the answer to the first request
    TestChain stranger(node.params);
    stranger.Extend(2, nullptr, 9, true, kSpends);
    node.Say(peer, Scene::Compact(stranger.Block(stranger.Tip())));
    CHECK(node.Take<GetHeadersMessage>(peer).size() == 1);
    CHECK_FALSE(node.IsClosed(silent));
    CHECK_FALSE(node.IsClosed(peer));

    Scene blocks_only(BlocksOnly());
    const PeerId other = blocks_only.Befriend(ConnectionKind::kInbound, "1.1.1.2:1");
    blocks_only.node.Say(other, Scene::Compact(blocks_only.Next()));
    CHECK(blocks_only.node.chain.BestHeader().height == 12);
}

TEST_CASE("wrong transactions lead to the whole block, and once more to the door", "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const MadeBlock& block = scene.Next();
    scene.Announce(peer, block);
    node.Say(peer, Scene::Compact(block));
    CHECK(scene.Missing(peer) == kAllButCoinbase);
    const auto wrong = Scene::Answer(block, {2, 1, 3, 4});
    node.Say(peer, wrong);
    const auto asked = Asked(node, peer);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].type == kInvWitnessBlock);
    CHECK_FALSE(node.IsClosed(peer));

    SECTION("the block comes")
    {
        node.SayRaw(peer, "block", block.raw);
        CHECK(scene.Has(block));
    }
    SECTION("the same answer comes")
    {
        node.Say(peer, wrong);
        CHECK(node.IsClosed(peer));
        const PeerId other = scene.Befriend(ConnectionKind::kInbound, "1.1.1.2:1");
        scene.Announce(other, block);
    }
}

TEST_CASE("compact blocks against the protocol", "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const MadeBlock& block = scene.Next();
    scene.Announce(peer, block);
    auto message = Scene::Compact(block);
    SECTION("an index beyond its end")
    {
        message.prefilled[0].gap = 5;
        node.Say(peer, message);
        CHECK(node.IsClosed(peer));
    }
    SECTION("short ids that collide are no crime")
    {
        message.short_ids[0] = message.short_ids[1];
        node.Say(peer, message);
        const auto asked = Asked(node, peer);
        REQUIRE(asked.size() == 1);
        CHECK(asked[0].type == kInvWitnessBlock);
        CHECK_FALSE(node.IsClosed(peer));
    }
    SECTION("too few transactions")
    {
        node.Say(peer, message);
        node.Say(peer, Scene::Answer(block, {1, 2, 3}));
        CHECK(node.IsClosed(peer));
    }
    SECTION("transactions that were not asked for")
    {
        node.Say(peer, Scene::Answer(block, kAllButCoinbase));
        node.SayRaw(peer, "blocktxn", Bytes(31));
        CHECK_FALSE(node.IsClosed(peer));
        CHECK(node.Info(peer).in_flight == std::vector<int32_t>{13});
    }
}

TEST_CASE("a fault found when a block is connected is not blamed on its announcer",
          "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId outbound = scene.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.1:1");
    const MadeBlock& block = scene.Next();
    scene.store.refuse_all = true;
    scene.Announce(outbound, block);
    node.Say(outbound, Scene::Compact(block));
    node.Say(outbound, Scene::Answer(block, kAllButCoinbase));
    CHECK(scene.store.puts == 1);
    CHECK_FALSE(node.IsClosed(outbound));
    node.SayRaw(outbound, "block", block.raw);
    node.Run();
    CHECK(node.IsClosed(outbound));
}

TEST_CASE("what a pool has is not asked for", "[peer_compact]")
{
    class Pool final : public TransactionSource {
    public:
        void ForEachTransaction(const Visit& more) const override
        {
            for (const TransactionRef& tx : txs) {
                if (!more({&tx->WitnessId(), 1}, {&tx, 1})) return;
            }
        }
        void ForEachToMine(size_t, const Visit&) const override {}
        std::vector<TransactionRef> txs;
    } pool;
    Scene scene({}, &pool);
    TestNode& node = scene.node;
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const MadeBlock some = scene.Next();
    pool.txs = Scene::Answer(some, {4, 2}).txs;
    scene.Announce(peer, some);
    node.Say(peer, Scene::Compact(some));
    CHECK(scene.Missing(peer) == std::vector<uint16_t>{1, 3});
    node.Say(peer, Scene::Answer(some, {1, 3}));
    REQUIRE(scene.Has(some));
    const MadeBlock& all = scene.Next();
    pool.txs = Scene::Answer(all, kAllButCoinbase).txs;
    scene.Announce(peer, all);
    node.Say(peer, Scene::Compact(all));
    CHECK(scene.Missing(peer).empty());
    CHECK(scene.Has(all));
}

TEST_CASE("checks of transactions pause while a compact block becomes the tip", "[peer_compact]")
{
    sim::ModelPool pool;
    Scene scene({}, nullptr, &pool);
    TestNode& node = scene.node;
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const MadeBlock& block = scene.Next();
    scene.Announce(peer, block);
    CHECK(pool.pauses == 0);
    node.Say(peer, Scene::Compact(block));
    CHECK(pool.pauses == 1);
    CHECK(pool.paused);
    pool.paused = false;
    node.Say(peer, Scene::Compact(block)); // the same proof of work
    CHECK(pool.pauses == 1);
    node.Say(peer, Scene::Answer(block, kAllButCoinbase));
    CHECK(pool.pauses == 2);
    CHECK(pool.paused);
    const HeaderNode& tip = node.chain.Tip();
    REQUIRE(scene.Has(block));
    node.manager.TipChanged(tip, *tip.prev);
    CHECK_FALSE(pool.paused);
}

TEST_CASE("peers that send blocks are asked to announce by compact blocks, three at most",
          "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId called = scene.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.1:1");
    std::vector<PeerId> peers{called};
    for (const char* address : {"1.1.1.2:1", "1.1.1.3:1", "1.1.1.4:1"}) {
        peers.push_back(scene.Befriend(ConnectionKind::kInbound, address));
    }
    const auto bring = [&](PeerId peer) {
        node.SayRaw(peer, "block", scene.Next().raw);
        node.Run();
    };
    node.chain.downloading = true;
    bring(called);
    CHECK_FALSE(node.Info(called).compact_to);
    node.chain.downloading = false;
    for (const PeerId peer : peers) {
        bring(peer);
        const auto said = node.Take<SendCompactMessage>(peer);
        REQUIRE(said.size() == 1);
        CHECK(said[0].high_bandwidth);
        CHECK(node.Info(peer).compact_to);
    }
    // The first inbound peer was replaced, not the outbound one.
    const auto said = node.Take<SendCompactMessage>(peers[1]);
    REQUIRE(said.size() == 1);
    CHECK_FALSE(said[0].high_bandwidth);
    CHECK_FALSE(node.Info(peers[1]).compact_to);
    CHECK(node.Info(called).compact_to);

    // An announcement of one of them is taken without a word before it.
    const MadeBlock& block = scene.Next();
    node.Say(peers[3], Scene::Compact(block));
    CHECK(scene.Missing(peers[3]) == kAllButCoinbase);
    // While something else is under way a block is no news.
    node.Say(peers[1], HeadersOf({block.header}));
    node.SayRaw(peers[1], "block", block.raw);
    node.Run();
    CHECK(scene.Has(block));
    CHECK(node.Info(peers[3]).in_flight.empty()); // it is no longer expected
}

TEST_CASE("three peers complete a block at a time, the last of them one we called",
          "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId slow = scene.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const PeerId second = scene.Befriend(ConnectionKind::kInbound, "1.1.1.2:1");
    const PeerId third = scene.Befriend(ConnectionKind::kInbound, "1.1.1.3:1");
    const PeerId called = scene.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.4:1");
    for (const PeerId peer : {second, third, called}) {
        node.SayRaw(peer, "block", scene.Next().raw);
        node.Run();
        REQUIRE(node.Info(peer).compact_to);
    }
    const MadeBlock& block = scene.Next();
    scene.Announce(slow, block);
    node.Say(slow, Scene::Compact(block));
    CHECK(scene.Missing(slow) == kAllButCoinbase);
    node.Say(second, Scene::Compact(block));
    CHECK(scene.Missing(second) == kAllButCoinbase);
    node.Say(third, Scene::Compact(block));
    CHECK(scene.Missing(third).empty());
    CHECK(node.Info(third).in_flight.empty());
    node.Say(called, Scene::Compact(block));
    CHECK(scene.Missing(called) == kAllButCoinbase);
    node.Say(third, Scene::Compact(block)); // no place is left
    CHECK(scene.Missing(third).empty());

    // A wrong answer of a peer other than the first only ends its attempt.
    node.Say(second, Scene::Answer(block, {1, 2, 4, 3}));
    CHECK(node.Info(second).in_flight.empty());
    CHECK(Asked(node, second).empty());
    node.Say(third, Scene::Compact(block)); // an outbound peer is among them: it may
    CHECK(scene.Missing(third) == kAllButCoinbase);
    node.Say(called, Scene::Answer(block, kAllButCoinbase));
    CHECK(scene.Has(block));
    node.Run();
    for (const PeerId peer : {slow, second, third, called}) {
        CHECK(node.Info(peer).in_flight.empty());
        CHECK_FALSE(node.IsClosed(peer));
    }
    node.Say(slow, Scene::Answer(block, kAllButCoinbase)); // too late
    CHECK_FALSE(node.IsClosed(slow));
}

TEST_CASE("a mutated block does not end another peer's compact block", "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId honest = scene.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.1:1");
    const PeerId attacker = node.Befriend(ConnectionKind::kInbound, "1.1.1.2:1");
    const MadeBlock& block = scene.Next();
    scene.Announce(honest, block);
    node.Say(honest, Scene::Compact(block));
    Bytes mutated = block.raw;
    mutated.back() ^= 1;
    node.SayRaw(attacker, "block", mutated);
    node.Run();
    CHECK(node.IsClosed(attacker));
    CHECK(node.Info(honest).in_flight == std::vector<int32_t>{13});
    node.Say(honest, Scene::Answer(block, kAllButCoinbase));
    CHECK(scene.Has(block));
}

TEST_CASE("new blocks are announced by compact blocks to peers that asked for them",
          "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    TestChain& chain = node.chain;
    const PeerId wants = scene.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    node.Say(wants, SendCompactMessage{true});
    CHECK(node.Info(wants).compact_from);
    const auto mine = [&](int count) {
        const HeaderNode& before = chain.Tip();
        node.manager.TipChanged(chain.Extend(count, nullptr, 0, true, kSpends), before);
        node.Run();
    };
    mine(1);
    CHECK(node.Types(wants) == Types{"inv"}); // it may lack the parent block
    node.Say(wants, HeadersOf(chain.Headers(13, 1)));
    mine(1);
    const auto told = node.Take<CompactBlockMessage>(wants);
    REQUIRE(told.size() == 1);
    CHECK(told[0].header.Hash() == chain.Tip().hash);
    CHECK(told[0].short_ids.size() == kSpends);
    mine(1); // it got the last one
    CHECK(node.Types(wants) == Types{"cmpctblock"});
    mine(2);
    CHECK(node.Types(wants) == Types{"inv"});
    node.Say(wants, HeadersOf(chain.Headers(16, 2)));
    node.Say(wants, SendHeadersMessage{});
    mine(2);
    CHECK(node.Types(wants) == Types{"headers"});
    node.Say(wants, SendCompactMessage{false});
    mine(1);
    CHECK(node.Types(wants) == Types{"headers"});
}

TEST_CASE("a stored block is announced before it is connected", "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId bringer = node.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const PeerId wants = scene.Befriend(ConnectionKind::kInbound, "1.1.1.2:1");
    const PeerId behind = scene.Befriend(ConnectionKind::kInbound, "1.1.1.3:1");
    node.Say(wants, HeadersOf(node.chain.Headers(12, 1)));
    for (const PeerId peer : {wants, behind}) node.Say(peer, SendCompactMessage{true});
    (void)node.Types(wants);
    scene.store.connect = false;
    const MadeBlock& block = scene.Next();
    node.SayRaw(bringer, "block", block.raw);
    node.Run();
    CHECK(node.chain.Tip().height == 12);
    const auto told = node.Take<CompactBlockMessage>(wants);
    REQUIRE(told.size() == 1);
    CHECK(told[0].header.Hash() == block.header.Hash());
    CHECK(node.Take<CompactBlockMessage>(behind).empty());
    // A request meanwhile is answered once the block is connected, before later requests.
    node.Say(behind, RequestFor(kInvWitnessBlock, {block.header.Hash(), node.chain.Tip().hash}));
    CHECK(node.Types(behind).empty());
    // Once is enough.
    const HeaderNode& before = node.chain.Tip();
    node.chain.Connect(*node.chain.Find(block.header.Hash()));
    node.manager.TipChanged(node.chain.Tip(), before);
    node.Run();
    CHECK(node.Types(wants).empty());
    const Types served = node.Types(behind);
    CHECK(std::count(served.begin(), served.end(), "block") == 2);
}

TEST_CASE("a request for a stored block that fails, or is not reached, delays no peer",
          "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    const PeerId bringer = node.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const PeerId asks = scene.Befriend(ConnectionKind::kInbound, "1.1.1.2:1");
    scene.store.connect = false;
    const MadeBlock& block = scene.Next();
    node.SayRaw(bringer, "block", block.raw);
    node.Run();
    node.Say(asks, RequestFor(kInvWitnessBlock, {block.header.Hash(), node.chain.Tip().hash}));
    CHECK(node.Types(asks).empty());
    node.chain.Tree().Find(block.header.Hash())->status |= kFailedValid;
    node.Run();
    CHECK(node.Types(asks) == Types{"block"});
}

TEST_CASE("compact blocks are served by their age", "[peer_compact]")
{
    Scene scene;
    TestNode& node = scene.node;
    TestChain& chain = node.chain;
    chain.Extend(6, nullptr, 0, true, kSpends); // 18
    const PeerId peer = scene.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const auto served = [&](int32_t height) {
        node.Say(peer, RequestFor(kInvCompactBlock, {chain.Tip().Ancestor(height)->hash}));
        const Types types = node.Types(peer);
        return types.size() == 1 ? types[0] : "";
    };
    CHECK(served(18) == "cmpctblock");
    CHECK(served(13) == "cmpctblock");
    CHECK(served(12) == "block");
    const auto transactions = [&](int32_t height, std::vector<uint16_t> indexes) {
        node.Say(peer, GetBlockTxnMessage{chain.Tip().Ancestor(height)->hash, std::move(indexes)});
        const Types types = node.Types(peer);
        return types.size() == 1 ? types[0] : "";
    };
    CHECK(transactions(18, {0, 4}) == "blocktxn");
    CHECK(transactions(8, {0}) == "blocktxn");
    CHECK(transactions(7, {0}) == "block");
    node.Say(peer, GetBlockTxnMessage{Uint256{}, {0}});
    CHECK(node.Types(peer).empty());
    CHECK_FALSE(node.IsClosed(peer));
    CHECK(transactions(18, {5}).empty());
    CHECK(node.IsClosed(peer));

    // A node that is behind does not know the new block.
    Scene old;
    old.node.MoveTime(20'000);
    const PeerId other = old.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    old.node.Say(other, RequestFor(kInvCompactBlock, {old.node.chain.Tip().hash}));
    CHECK(old.node.Types(other) == Types{"block"});
}

} // namespace ibd
