// Blocks from peers: a whole chain from one node to another, and peers that lie, stall, or send
// what nobody asked for.
#include "net/peer_store.h"

#include "support/catch.h"

namespace ibd {

using namespace test;
using Types = std::vector<std::string>;

TEST_CASE("a whole chain from one node to another", "[peer_blocks]")
{
    TestNode a(RegtestParams(), {}, 1), b(RegtestParams(), {}, 2);
    b.chain.Extend(2500);
    a.chain.downloading = true;
    Store store(a);
    const PeerId b_in_a = a.Connect(ConnectionKind::kOutboundFullRelay);
    const PeerId a_in_b = b.Connect(ConnectionKind::kInbound);
    Exchange(a, b_in_a, b, a_in_b);
    CHECK(a.chain.Tip().hash == b.chain.Tip().hash);
    CHECK(store.puts == 2500); // each once
    CHECK(a.Info(b_in_a).in_flight.empty());

    // New blocks, and a branch that becomes better.
    a.chain.downloading = false;
    const HeaderNode& before = b.chain.Tip();
    b.manager.TipChanged(b.chain.Extend(1), before);
    b.Run();
    Exchange(a, b_in_a, b, a_in_b);
    CHECK(a.chain.Tip().hash == b.chain.Tip().hash);
    CHECK(store.puts == 2501);
}

TEST_CASE("near the tip any branch as good as ours is fetched when it is told", "[peer_blocks]")
{
    TestNode node(RegtestParams());
    node.chain.first_time = kStart - 100;
    node.chain.Extend(2);
    Store store(node);
    const PeerId peer = node.Befriend(ConnectionKind::kInbound);
    for (const uint32_t salt : {7, 8}) { // the second while the first is under way
        TestChain theirs(node.params);
        theirs.first_time = kStart - 100;
        theirs.Extend(2, nullptr, salt);
        node.Say(peer, HeadersOf(theirs.Headers(1, 2)));
        const auto asked = Asked(node, peer);
        REQUIRE(asked.size() == 2);
        CHECK(asked[0].hash == theirs.Headers(1, 1)[0].Hash()); // the lowest first
        node.Say(peer, HeadersOf(theirs.Headers(1, 2)));
        CHECK(Asked(node, peer).empty());
    }
    TestChain worse(node.params);
    worse.first_time = kStart - 100;
    worse.Extend(1, nullptr, 9);
    node.Say(peer, HeadersOf(worse.Headers(1, 1)));
    CHECK(Asked(node, peer).empty());
}

TEST_CASE("what a peer says behind a block waits until the block is done with", "[peer_blocks]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(2);
    Store store(node);
    const PeerId peer = node.Befriend(ConnectionKind::kInbound);
    const PeerId other = node.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    node.Say(peer, HeadersOf(theirs.Headers(1, 2)));
    (void)Asked(node, peer);
    store.busy = peer;
    for (const int height : {1, 2}) {
        node.SayRaw(peer, "block", theirs.Block(*theirs.Tip().Ancestor(height)).raw);
    }
    CHECK(store.puts == 2); // blocks do not wait for one another
    node.Say(peer, PingMessage{1});
    node.Say(other, PingMessage{2});
    CHECK(node.Take<PongMessage>(peer).empty());
    CHECK(node.Take<PongMessage>(other).size() == 1);
    store.busy = -1;
    node.Run();
    CHECK(node.Take<PongMessage>(peer).size() == 1);
}

TEST_CASE("blocks that are not what they should be", "[peer_blocks]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(20);
    Store store(node);
    const PeerId liar = node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.1:1");
    node.Say(liar, HeadersOf(theirs.Headers(1, 20)));
    const auto asked = Asked(node, liar);
    REQUIRE(asked.size() == 16);
    CHECK(asked[0].type == kInvWitnessBlock);
    CHECK(asked[0].hash == theirs.Headers(1, 1)[0].Hash());
    CHECK(node.Info(liar).in_flight.size() == 16);
    const auto raw = [&](int32_t height) {
        return theirs.Block(*theirs.Tip().Ancestor(height)).raw;
    };

    node.SayRaw(liar, "block", Bytes(79)); // no block at all
    CHECK_FALSE(node.IsClosed(liar));
    node.SayRaw(liar, "block", raw(1));
    CHECK(node.chain.Tip().height == 1);
    Bytes mutated = raw(2);
    mutated[140] ^= 1;
    node.SayRaw(liar, "block", mutated);
    node.Run();
    CHECK(node.IsClosed(liar));
    CHECK(node.link.discouraged == Types{"1.1.1.1"});
    CHECK(node.chain.Tip().height == 1);

    // What it owes, and what it lied about, another gives.
    const PeerId honest = node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.2:1");
    node.Say(honest, HeadersOf(theirs.Headers(1, 20)));
    for (auto items = Asked(node, honest); !items.empty(); items = Asked(node, honest)) {
        for (const InventoryItem& item : items) {
            node.SayRaw(honest, "block", theirs.Block(*theirs.Find(item.hash)).raw);
        }
    }
    CHECK(node.chain.Tip().height == 20);
}

TEST_CASE("blocks that nobody asked for", "[peer_blocks]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(400);
    Store store(node);
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    const auto send = [&](TestChain& chain, const HeaderNode& block) {
        node.SayRaw(id, "block", chain.Block(block).raw);
    };
    send(theirs, *theirs.Tip().Ancestor(1)); // with a header that is new
    CHECK(node.chain.Tip().height == 1);
    send(theirs, *theirs.Tip().Ancestor(1)); // again
    CHECK(store.puts == 1);
    const HeaderNode& fork = theirs.Extend(1, theirs.Tip().Ancestor(0), 5, false);
    send(theirs, fork); // as good as the tip
    CHECK(store.puts == 2);
    send(theirs, *theirs.Tip().Ancestor(2));
    CHECK(node.chain.Tip().height == 2);
    const HeaderNode& weak = theirs.Extend(1, theirs.Tip().Ancestor(0), 6, false);
    send(theirs, weak); // worse than the tip
    CHECK(store.puts == 3);

    const HeaderNode* last = nullptr;
    REQUIRE_FALSE(node.chain.AcceptHeaders(theirs.Headers(3, 398), &last));
    send(theirs, *theirs.Tip().Ancestor(291)); // too far above the tip
    CHECK(store.puts == 3);
    send(theirs, *theirs.Tip().Ancestor(290));
    CHECK(store.puts == 4);
    CHECK_FALSE(node.IsClosed(id));

    TestChain strange(node.params);
    strange.Extend(2, nullptr, 9);
    Bytes cut = strange.Block(strange.Tip()).raw;
    cut.pop_back();
    node.SayRaw(id, "block", cut); // no block at all
    CHECK_FALSE(node.IsClosed(id));
    send(strange, strange.Tip()); // on one that we do not know
    CHECK(node.IsClosed(id));

    // Other bytes under the name of one that is here.
    const PeerId liar = node.Befriend(ConnectionKind::kInbound, "1.1.1.9:1");
    Bytes mutated = theirs.Block(*theirs.Tip().Ancestor(1)).raw;
    node.SayRaw(liar, "block", mutated);
    CHECK_FALSE(node.IsClosed(liar));
    mutated.back() ^= 1;
    node.SayRaw(liar, "block", mutated);
    CHECK(node.IsClosed(liar));
    CHECK(store.puts == 4);
}

TEST_CASE("a sink without room stops the reading", "[peer_blocks]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(5);
    Store store(node);
    const PeerId id = node.Befriend(ConnectionKind::kOutboundFullRelay);
    node.Say(id, HeadersOf(theirs.Headers(1, 5)));
    CHECK(Asked(node, id).size() == 5);
    store.room = 0;
    node.link.consumed = 0;
    node.SayRaw(id, "block", theirs.Block(*theirs.Tip().Ancestor(1)).raw);
    node.Say(id, PingMessage{9});
    CHECK(node.Take<PongMessage>(id).empty());
    CHECK(node.link.consumed == 0);
    store.room = 64 << 20;
    node.Run();
    CHECK(node.Take<PongMessage>(id).size() == 1);
    CHECK(node.chain.Tip().height == 1);
}

TEST_CASE("who holds up the download is replaced", "[peer_blocks]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(1100);
    Store store(node);
    const PeerId slow = node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.1:1");
    node.Say(slow, HeadersOf(theirs.Headers(1, 1100)));
    CHECK(Asked(node, slow).size() == 16);
    const PeerId fast = node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.2:1");
    node.Say(fast, HeadersOf(theirs.Headers(1, 1100)));
    const auto serve = [&] {
        for (auto items = Asked(node, fast); !items.empty(); items = Asked(node, fast)) {
            for (const InventoryItem& item : items) {
                node.SayRaw(fast, "block", theirs.Block(*theirs.Find(item.hash)).raw);
            }
        }
    };
    serve();
    CHECK(store.puts == 1024 - 16);
    node.MoveTime(2);
    CHECK_FALSE(node.IsClosed(slow));
    node.MoveTime(1);
    CHECK(node.IsClosed(slow));
    CHECK_FALSE(node.IsClosed(fast));
    serve();
    CHECK(node.chain.Tip().height == 1100);
    CHECK(store.puts == 1100);
}

} // namespace ibd
