// Blocks from peers: a whole chain from one node to another, and peers that lie, stall, or send
// unrequested blocks.
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

TEST_CASE("near the tip any announced branch with as much work as ours is fetched", "[peer_blocks]")
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

    // Another peer sends its pending blocks, and those for which it sent wrong bytes.
    const PeerId honest = node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.2:1");
    node.Say(honest, HeadersOf(theirs.Headers(1, 20)));
    for (auto items = Asked(node, honest); !items.empty(); items = Asked(node, honest)) {
        for (const InventoryItem& item : items) {
            node.SayRaw(honest, "block", theirs.Block(*theirs.Find(item.hash)).raw);
        }
    }
    CHECK(node.chain.Tip().height == 20);
}

namespace {

/** A lying peer named by the user, and its announced blocks. */
struct NamedLiar {
    static constexpr int kBlocks = 60;
    explicit NamedLiar(ConnectionKind kind = ConnectionKind::kManual)
    {
        theirs.Extend(kBlocks);
        peer = node.Befriend(kind, "1.1.1.1:1");
        TellHeaders(peer);
    }
    void TellHeaders(PeerId id) { node.Say(id, HeadersOf(theirs.Headers(1, kBlocks))); }
    const HeaderNode& At(int32_t height) const { return *theirs.Tip().Ancestor(height); }
    Bytes Raw(int32_t height) const { return theirs.Block(At(height)).raw; }
    /** Another transaction than the block's. */
    Bytes Falsified(int32_t height) const
    {
        Bytes raw = Raw(height);
        raw[140] ^= 1;
        return raw;
    }
    /** The same, but the count of transactions is not written in its shortest form. */
    Bytes Undecodable(int32_t height) const
    {
        Bytes raw = Raw(height);
        const Bytes count{0xfd, raw[BlockHeader::kSize], 0};
        raw.erase(raw.begin() + BlockHeader::kSize);
        raw.insert(raw.begin() + BlockHeader::kSize, count.begin(), count.end());
        return raw;
    }
    /** The heights requested from it, all of which it falsifies, until no more are requested. */
    std::vector<int32_t> LieAboutAll(PeerId id)
    {
        std::vector<int32_t> heights;
        for (auto items = Asked(node, id); !items.empty(); items = Asked(node, id)) {
            for (const InventoryItem& item : items) {
                heights.push_back(theirs.Find(item.hash)->height);
                node.SayRaw(id, "block", Falsified(heights.back()));
            }
            node.MoveTime(100);
        }
        return heights;
    }
    PeerId ComeBack()
    {
        node.manager.Disconnected(peer);
        peer = node.Befriend(ConnectionKind::kManual, "1.1.1.1:1");
        TellHeaders(peer);
        return peer;
    }

    TestNode node{RegtestParams()};
    TestChain theirs{node.params};
    Store store{node};
    PeerId peer = -1;
};

/** A peer answers all requests correctly until there are no more. */
void GiveAll(NamedLiar& scene, PeerId id)
{
    for (auto items = Asked(scene.node, id); !items.empty(); items = Asked(scene.node, id)) {
        for (const InventoryItem& item : items) {
            scene.node.SayRaw(id, "block", scene.Raw(scene.theirs.Find(item.hash)->height));
        }
    }
}

} // namespace

TEST_CASE("a liar that the user named is asked once for a block, and for few blocks",
          "[peer_blocks]")
{
    NamedLiar scene;
    const std::vector<int32_t> asked = scene.LieAboutAll(scene.peer);
    CHECK_FALSE(scene.node.IsClosed(scene.peer));
    // Others are under way when the last of them proves wrong.
    CHECK(asked.size() <= SpoiltBlocks::kMost + BlockDownloader::kMinInFlight);
    CHECK(std::set(asked.begin(), asked.end()).size() == asked.size());
    for (int times = 0; times < 3; ++times) {
        CHECK(scene.LieAboutAll(scene.ComeBack()).empty());
    }
    // All blocks are requested from peers at other addresses.
    const PeerId honest = scene.node.Befriend(ConnectionKind::kManual, "1.1.1.1:2");
    scene.TellHeaders(honest);
    GiveAll(scene, honest);
    CHECK(scene.node.chain.Tip().height == NamedLiar::kBlocks);
}

TEST_CASE("what a named peer spoilt is asked of it in no way", "[peer_blocks]")
{
    NamedLiar scene;
    TestNode& node = scene.node;
    REQUIRE(Asked(node, scene.peer).size() == 16);
    for (int32_t height = 1; height <= 16; ++height) {
        node.SayRaw(scene.peer, "block",
                    height == 2   ? scene.Falsified(height)
                    : height == 4 ? scene.Undecodable(height)
                                  : scene.Raw(height));
    }
    GiveAll(scene, scene.peer);
    const auto is_silent = [&](int32_t height) {
        const HeaderNode& block = *node.chain.Find(scene.At(height).hash);
        const Result<> fetched = node.manager.FetchBlock(scene.peer, block);
        REQUIRE_FALSE(fetched);
        CHECK(fetched.Message() == "Peer sent something else for this block");
        BlockView view;
        REQUIRE(view.Parse(scene.theirs.Block(scene.At(height)).raw));
        node.Say(scene.peer, MakeCompactBlock(view, 5));
        node.Say(scene.peer, HeadersOf({scene.At(height).Header()}));
        for (const OutgoingMessage& message : node.link.sent[scene.peer]) {
            CHECK(message.type != GetBlockTxnMessage::kType);
            if (message.type != GetDataMessage::kType) continue;
            const auto request = Decode<GetDataMessage>(message.payload);
            for (const auto& item : request->list.items) CHECK(item.hash != block.hash);
        }
    };
    for (int times = 0; times < 2; ++times) {
        node.Say(scene.peer, SendCompactMessage{});
        is_silent(2);
        is_silent(4);
        scene.ComeBack();
    }
    CHECK(node.chain.Tip().height == 1);
    const PeerId other = node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.2:1");
    scene.TellHeaders(other);
    GiveAll(scene, other);
    CHECK(node.chain.Tip().height == NamedLiar::kBlocks);
}

TEST_CASE("what a peer says behind a falsified block is not answered", "[peer_blocks]")
{
    NamedLiar scene(ConnectionKind::kOutboundFullRelay);
    TestNode& node = scene.node;
    node.manager.Received(scene.peer, {"block", scene.Falsified(1), 0, ""});
    node.manager.Received(scene.peer,
                          {std::string(PingMessage::kType), Encode(PingMessage{7}), 0, ""});
    node.Run();
    CHECK(node.Take<PongMessage>(scene.peer).empty());
    CHECK(node.IsClosed(scene.peer));
}

TEST_CASE("a named liar that left before it was found out is not asked again", "[peer_blocks]")
{
    NamedLiar scene;
    REQUIRE(Asked(scene.node, scene.peer).size() == 16);
    scene.store.judges_later = true;
    scene.node.SayRaw(scene.peer, "block", scene.Falsified(1));
    scene.node.manager.Disconnected(scene.peer);
    scene.store.judges_later = false;
    scene.node.Run();
    scene.ComeBack();
    for (const InventoryItem& item : Asked(scene.node, scene.peer)) {
        CHECK(item.hash != scene.At(1).hash);
    }
}

TEST_CASE("a block that cannot be decoded does not cost the connection", "[peer_blocks]")
{
    NamedLiar scene(ConnectionKind::kOutboundFullRelay);
    TestNode& node = scene.node;
    auto items = Asked(node, scene.peer);
    REQUIRE(items.size() == 16);
    node.SayRaw(scene.peer, "block", scene.Undecodable(1));
    CHECK_FALSE(node.IsClosed(scene.peer));
    for (int32_t height = 2; height <= 16; ++height) {
        node.SayRaw(scene.peer, "block", scene.Raw(height));
    }
    GiveAll(scene, scene.peer);
    CHECK(node.chain.Tip().height == 0); // it was not asked again for the first
    CHECK(scene.store.puts == NamedLiar::kBlocks);

    const PeerId useless = node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.2:1");
    scene.TellHeaders(useless);
    node.SayRaw(useless, "block", scene.Undecodable(1));
    CHECK_FALSE(node.IsClosed(useless));
    const HeaderNode& last = scene.theirs.Extend(SpoiltBlocks::kMost);
    node.Say(useless, HeadersOf(scene.theirs.Headers(NamedLiar::kBlocks + 1, SpoiltBlocks::kMost)));
    for (int32_t height = NamedLiar::kBlocks + 1; height <= last.height; ++height) {
        node.SayRaw(useless, "block", scene.Undecodable(height));
    }
    CHECK(node.IsClosed(useless)); // it would keep the place of a better one
    CHECK(node.link.discouraged.empty());
}

TEST_CASE("blocks that were not requested", "[peer_blocks]")
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

TEST_CASE("a block that cannot be decoded is ignored, whatever its header", "[peer_blocks]")
{
    constexpr size_t kBitsOffset = 72;
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(1);
    Store store(node);
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    Bytes raw = theirs.Block(theirs.Tip()).raw;
    WriteLE32(raw.data() + kBitsOffset, 0x1d00ffff); // it has no proof of so much work
    node.SayRaw(id, "block", Bytes(raw.begin(), raw.end() - 1));
    CHECK_FALSE(node.IsClosed(id));
    node.SayRaw(id, "block", raw);
    CHECK(node.IsClosed(id));
    CHECK(store.puts == 0);
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

TEST_CASE("blocks that are under way when a download ends are taken by the next", "[peer_blocks]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(20);
    const PeerId peer = node.Befriend(ConnectionKind::kOutboundFullRelay);
    const auto send = [&](int32_t height) {
        node.SayRaw(peer, "block", theirs.Block(*theirs.Tip().Ancestor(height)).raw);
    };
    Store first(node);
    node.Say(peer, HeadersOf(theirs.Headers(1, 20)));
    REQUIRE(Asked(node, peer).size() == 16);
    send(1);
    CHECK(first.puts == 1);
    REQUIRE(Asked(node, peer).size() == 1); // height 17
    node.manager.StopDownload();
    send(2); // is dropped
    CHECK(first.puts == 1);
    CHECK(node.Info(peer).in_flight.size() == 15);
    node.MoveTime(1);

    Store second(node);
    node.Run();
    auto asked = Asked(node, peer);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].hash == theirs.Headers(2, 1)[0].Hash());
    for (int32_t height = 3; height <= 17; ++height) send(height);
    CHECK(second.puts == 15);
    asked = Asked(node, peer);
    REQUIRE(asked.size() == 3);
    CHECK(asked[0].hash == theirs.Headers(18, 1)[0].Hash());
    for (const int32_t height : {2, 18, 19, 20}) send(height);
    CHECK(node.chain.Tip().hash == theirs.Tip().hash);
    CHECK(node.Info(peer).in_flight.empty());
    CHECK_FALSE(node.IsClosed(peer));
}

TEST_CASE("a request for a block that the next download has does not hold it up", "[peer_blocks]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(20);
    const PeerId peer = node.Befriend(ConnectionKind::kOutboundFullRelay);
    Store first(node);
    node.Say(peer, HeadersOf(theirs.Headers(1, 20)));
    REQUIRE(Asked(node, peer).size() == 16);
    node.manager.StopDownload();
    for (int32_t height = 1; height <= 10; ++height) {
        const HeaderNode& there = *node.chain.Find(theirs.Headers(height, 1)[0].Hash());
        node.chain.Keep(there, theirs.Block(*theirs.Tip().Ancestor(height)).raw);
    }
    Store second(node);
    node.Run();
    CHECK(node.Info(peer).in_flight.size() == 10); // 11 to 20
    CHECK(node.Info(peer).in_flight.front() == 11);
    CHECK(Asked(node, peer).size() == 4);
}

TEST_CASE("a peer that delays the download is replaced", "[peer_blocks]")
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
