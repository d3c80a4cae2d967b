// Packed blocks between nodes: the feature, batches and their cache, the budget; a sync that uses
// them on a slow line, and peers that send damaged, foreign or no batches.
#include "net/packing_support.h"
#include "net/peer/line_speed.h"
#include "net/peer/pack_cache.h"
#include "net/peer_store.h"
#include "net/wire/message_table.h"
#include "packing/failing_zstd.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

const FeatureMessage kFeature = PackingFeatureMessage();
constexpr const char* kOnion =
    "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:8333";

/** Shakes hands with the feature; what was sent until then is dropped. */
PeerId BefriendPacking(TestNode& node, ConnectionKind kind, const char* address = "8.8.8.8:8333")
{
    const PeerId id = node.Connect(kind, address);
    node.Say(id, TestNode::Version());
    node.Say(id, kFeature);
    node.Say(id, VerackMessage{});
    for (const PingMessage& ping : node.Take<PingMessage>(id))
        node.Say(id, PongMessage{ping.nonce});
    node.link.sent[id].clear();
    return id;
}

bool Announces(PeerOptions options, ConnectionKind kind, const char* address,
               int32_t version = kProtocolVersion)
{
    TestNode node(RegtestParams(), std::move(options));
    const PeerId id = node.Connect(kind, address);
    VersionMessage theirs = TestNode::Version();
    theirs.version = version;
    node.Say(id, theirs);
    const auto features = node.Take<FeatureMessage>(id);
    return std::find(features.begin(), features.end(), kFeature) != features.end();
}

/** Answers to a peer with blocks: the number of blocks in each batch, 0 for a plain block.
 */
std::vector<size_t> Sizes(TestNode& node, PeerId id, std::vector<Bytes>* blocks = nullptr)
{
    std::vector<size_t> out;
    for (const OutgoingMessage& message : node.link.sent[id]) {
        if (message.type == PackedMessage::kType) {
            auto batch = UnpackBlocks(message.payload);
            REQUIRE(batch);
            out.push_back(batch->size());
            if (blocks) blocks->insert(blocks->end(), batch->begin(), batch->end());
        } else if (message.type == BlockMessage::kType) {
            out.push_back(0);
            if (blocks) blocks->push_back(message.payload);
        }
    }
    node.link.sent[id].clear();
    return out;
}

GetPackedMessage RequestFrom(const TestChain& chain, int first, int count)
{
    GetPackedMessage out;
    for (int i = 0; i < count; ++i) {
        out.blocks.items.push_back(chain.Tip().Ancestor(first + i)->hash);
    }
    return out;
}

/** A node that syncs from peers whose chain has 400 blocks. */
struct Syncing {
    Syncing() : theirs(node.params)
    {
        theirs.Extend(400);
        node.chain.downloading = true;
    }
    PeerId Meet(const char* address)
    {
        const PeerId id = BefriendPacking(node, ConnectionKind::kOutboundFullRelay, address);
        node.Say(id, HeadersOf(theirs.Headers(1, 400)));
        return id;
    }
    /** Answers what the peer was asked for, one plain block each 0.2 seconds, until it is asked for
     *  packed blocks. */
    GetPackedMessage SlowDown(PeerId id)
    {
        for (int i = 0; i < 200; ++i) {
            for (const OutgoingMessage& message : std::exchange(node.link.sent[id], {})) {
                if (message.type == GetPackedMessage::kType) {
                    return *Decode<GetPackedMessage>(message.payload);
                }
                if (message.type != GetDataMessage::kType) continue;
                const auto request = *Decode<GetDataMessage>(message.payload);
                for (const InventoryItem& item : request.list.items) awaited.push_back(item.hash);
            }
            REQUIRE_FALSE(awaited.empty());
            node.now += kSecond / 5;
            node.SayRaw(id, "block", Raw(BlockHash(awaited.front())));
            awaited.pop_front();
        }
        FAIL("packed blocks are never asked for");
        return {};
    }
    /** Blocks requested since the last call, packed or not. */
    std::vector<BlockHash> Requests(PeerId id)
    {
        std::vector<BlockHash> out;
        for (const OutgoingMessage& message : std::exchange(node.link.sent[id], {})) {
            if (message.type == GetPackedMessage::kType) {
                const auto request = *Decode<GetPackedMessage>(message.payload);
                out.insert(out.end(), request.blocks.items.begin(), request.blocks.items.end());
            } else if (message.type == GetDataMessage::kType) {
                const auto request = *Decode<GetDataMessage>(message.payload);
                for (const InventoryItem& item : request.list.items) out.emplace_back(item.hash);
            }
        }
        return out;
    }
    const Bytes& Raw(const BlockHash& hash) const { return theirs.Block(*theirs.Find(hash)).raw; }
    Bytes Batch(const std::vector<BlockHash>& hashes) const
    {
        std::vector<ByteSpan> spans;
        for (const BlockHash& hash : hashes) spans.emplace_back(Raw(hash));
        return *PackBlocks(spans, 1);
    }

    TestNode node{RegtestParams(), Packing()};
    TestChain theirs;
    Store store{node};
    std::deque<Uint256> awaited;
};

} // namespace

TEST_CASE("packed blocks are announced to peers that know features", "[packed]")
{
    for (const auto kind : {ConnectionKind::kInbound, ConnectionKind::kOutboundFullRelay}) {
        CHECK(Announces(Packing(), kind, "9.9.9.9:8333"));
        CHECK_FALSE(Announces(Packing(0), kind, "9.9.9.9:8333"));
        CHECK_FALSE(Announces(Packing(), kind, "9.9.9.9:8333", kFeatureVersion - 1));
        CHECK_FALSE(Announces(Packing(), kind, kOnion));
        PeerOptions asked = Packing();
        asked.pack_anonymously = true;
        CHECK(Announces(asked, kind, kOnion));
    }
    CHECK_FALSE(Announces(Packing(), ConnectionKind::kFeeler, "9.9.9.9:8333"));
}

TEST_CASE("a batch has a power of two of consecutive blocks", "[packed]")
{
    TestNode node(RegtestParams(), Packing());
    node.chain.Extend(200);
    const PeerId peer = BefriendPacking(node, ConnectionKind::kInbound);
    const auto sizes = [&](const GetPackedMessage& request) {
        std::vector<Bytes> blocks;
        node.Say(peer, request);
        const std::vector<size_t> out = Sizes(node, peer, &blocks);
        std::vector<Bytes> expected;
        for (const BlockHash& hash : request.blocks.items) {
            if (const HeaderNode* found = node.chain.Find(hash)) {
                expected.push_back(node.chain.Block(*found).raw);
            }
        }
        CHECK(blocks == expected);
        return out;
    };
    using Sizes = std::vector<size_t>;
    CHECK(sizes(RequestFrom(node.chain, 8, 10)) == Sizes{8, 2});
    CHECK(sizes(RequestFrom(node.chain, 1, 7)) == Sizes{1, 2, 4});
    CHECK(sizes(RequestFrom(node.chain, 64, 137)) == Sizes{64, 64, 8, 1});
    GetPackedMessage gap = RequestFrom(node.chain, 8, 3);
    gap.blocks.items.insert(gap.blocks.items.begin() + 1, BlockHash{}); // unknown
    CHECK(sizes(gap) == Sizes{1, 1, 1});
    CHECK_FALSE(node.IsClosed(peer));
}

TEST_CASE("a batch is packed once for all peers", "[packed]")
{
    struct Counter final : BlockProvider {
        explicit Counter(TestChain& chain) : m_chain(chain) {}
        Result<Bytes> ReadBlock(const HeaderNode& node) override
        {
            ++reads;
            return m_chain.ReadBlock(node);
        }
        int reads = 0;
        TestChain& m_chain;
    };
    PackCache cache;
    const BlockHash a(Uint256(Sha256Of(AsBytes("a"))));
    CHECK_FALSE(cache.Find(a, 4));
    cache.Keep(a, 4, Bytes(10, 1));
    REQUIRE(cache.Find(a, 4));
    CHECK(*cache.Find(a, 4) == Bytes(10, 1));
    CHECK_FALSE(cache.Find(a, 2));
    cache.Keep(a, 4, Bytes(20, 2)); // known already
    CHECK(cache.Size() == 10);
    cache.Keep(a, 2, Bytes(PackCache::kMaxBytes - 10, 2));
    CHECK(cache.Find(a, 4));
    cache.Keep(a, 1, Bytes(1, 3)); // the one that was not used for the longest time goes
    CHECK_FALSE(cache.Find(a, 2));
    CHECK(cache.Find(a, 4));
    CHECK(cache.Size() == 11);
    cache.Keep(a, 8, Bytes(PackCache::kMaxBytes + 1, 0));
    CHECK_FALSE(cache.Find(a, 8));

    TestNode node(RegtestParams(), Packing());
    node.chain.Extend(20);
    Counter counter(node.chain);
    PeerManager manager({node.env, *node.logger, node.params, node.chain, node.chain, counter,
                         node.link, [&] { return node.now; }},
                        Packing());
    for (const PeerId id : {100, 101}) {
        NewPeer connection;
        connection.id = id;
        connection.address = *Endpoint::Parse("8.8.8.8:8333", 8333);
        manager.Connected(connection);
        const auto say = [&](const auto& message) {
            const std::string type(std::decay_t<decltype(message)>::kType);
            manager.Received(id, {type, Encode(message), 0, ""});
            while (manager.Work()) {
            }
        };
        say(TestNode::Version());
        say(kFeature);
        say(VerackMessage{});
        node.link.sent[id].clear();
        say(RequestFrom(node.chain, 8, 8));
        CHECK(Sizes(node, id) == std::vector<size_t>{8});
        CHECK(counter.reads == 8);
    }
}

TEST_CASE("a request for a block that is being connected is answered afterwards", "[packed]")
{
    TestNode node(RegtestParams(), Packing());
    TestChain theirs(node.params);
    for (TestChain* chain : {&node.chain, &theirs}) {
        chain->first_time = kStart - 100; // a node at the tip
        chain->Extend(12);
    }
    Store store{node};
    store.connect = false;
    const PeerId bringer = node.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const PeerId asks = BefriendPacking(node, ConnectionKind::kInbound, "1.1.1.2:1");
    const MadeBlock& block = theirs.Block(theirs.Extend(1));
    node.SayRaw(bringer, "block", block.raw);
    REQUIRE(node.chain.Tip().height == 12);
    GetPackedMessage request = RequestFrom(node.chain, 12, 1);
    request.blocks.items.push_back(block.header.Hash());
    node.Say(asks, request);
    CHECK(Sizes(node, asks) == std::vector<size_t>{1});
    const HeaderNode& before = node.chain.Tip();
    node.chain.Connect(*node.chain.Find(block.header.Hash()));
    node.manager.TipChanged(node.chain.Tip(), before);
    node.Run();
    CHECK(Sizes(node, asks) == std::vector<size_t>{1});
}

TEST_CASE("without time to pack, blocks go out plain", "[packed]")
{
    TestNode node(RegtestParams(), Packing(1, 0));
    node.chain.Extend(20);
    const PeerId peer = BefriendPacking(node, ConnectionKind::kInbound);
    node.Say(peer, RequestFrom(node.chain, 8, 4));
    CHECK(Sizes(node, peer) == std::vector<size_t>{0, 0, 0, 0});

    PackBudget budget(25);
    CHECK(budget.Allows(1'000'000));
    budget.Spend(250'000); // a quarter of kMost
    CHECK(budget.Allows(1'000'000));
    budget.Spend(100'000);
    CHECK_FALSE(budget.Allows(1'100'000)); // a quarter of the time is earned back
    CHECK(budget.Allows(1'400'000));
    budget.Spend(1'000'000);
    CHECK_FALSE(budget.Allows(5'399'999));
    CHECK(budget.Allows(5'400'000));
}

TEST_CASE("without memory for zstd, blocks go out plain", "[packed]")
{
    TestNode node(RegtestParams(), Packing());
    node.chain.Extend(20);
    const PeerId peer = BefriendPacking(node, ConnectionKind::kInbound);
    {
        const FailingZstd failing(ZstdCall::kCompress);
        node.Say(peer, RequestFrom(node.chain, 8, 4));
    }
    CHECK(Sizes(node, peer) == std::vector<size_t>{0, 0, 0, 0});
    node.MoveTime(1);
    node.Say(peer, RequestFrom(node.chain, 8, 4));
    CHECK(Sizes(node, peer) == std::vector<size_t>{4});
}

TEST_CASE("requests for packed blocks are bounded, and need the feature", "[packed]")
{
    TestNode node(RegtestParams(), Packing());
    node.chain.Extend(20);
    const PeerId stranger = node.Befriend(ConnectionKind::kInbound);
    node.Say(stranger, RequestFrom(node.chain, 8, 4));
    CHECK(Sizes(node, stranger).empty());
    CHECK_FALSE(node.IsClosed(stranger));
    const PeerId peer = BefriendPacking(node, ConnectionKind::kInbound, "9.9.9.9:8333");
    GetPackedMessage many;
    many.blocks.items.assign(kMaxPackedRequest + 1, node.chain.Tip().hash);
    node.Say(peer, many);
    CHECK(node.IsClosed(peer));
}

TEST_CASE("on a slow line blocks are asked for packed", "[packed]")
{
    Syncing sync;
    const PeerId peer = sync.Meet("8.8.8.8:8333");
    const GetPackedMessage request = sync.SlowDown(peer);
    CHECK(request.blocks.items.size() >= 4); // a quarter of the requests at a time
    const int before = sync.store.puts;
    // One by a plain block, the rest by two batches.
    const std::vector<BlockHash>& all = request.blocks.items;
    sync.node.SayRaw(peer, "block", sync.Raw(all[0]));
    sync.node.SayRaw(peer, "packed", sync.Batch({all[1], all[2]}));
    sync.node.SayRaw(peer, "packed", sync.Batch({all.begin() + 3, all.end()}));
    CHECK(sync.store.puts == before + int(all.size()));
    CHECK_FALSE(sync.node.IsClosed(peer));
}

TEST_CASE("a damaged batch costs the peer its place, and others are asked", "[packed]")
{
    for (const int damage : {0, 1, 2}) {
        Syncing sync;
        const PeerId peer = sync.Meet("8.8.8.8:8333");
        const GetPackedMessage request = sync.SlowDown(peer);
        Bytes batch = sync.Batch(request.blocks.items);
        if (damage == 0) batch.resize(batch.size() / 2);
        if (damage == 1) batch[0] = 9;
        if (damage == 2) batch = {1, 1, 0xff, 0xff, 0xff, 0x7f}; // states far too much
        const PeerId other = sync.Meet("9.9.9.9:8333");
        sync.node.SayRaw(peer, "packed", batch);
        CHECK(sync.node.IsClosed(peer));
        CHECK(sync.node.link.discouraged.empty());
        sync.node.MoveTime(1);
        std::set<Uint256> asked;
        for (int i = 0; i < 200; ++i) {
            for (const BlockHash& hash : sync.Requests(other)) {
                asked.insert(hash);
                sync.node.SayRaw(other, "block", sync.Raw(hash));
            }
        }
        for (const BlockHash& hash : request.blocks.items) CHECK(asked.contains(hash));
        CHECK(sync.node.chain.Tip().height == 400);
        CHECK_FALSE(sync.node.IsClosed(other));
    }
}

TEST_CASE("a batch for which memory is short costs nothing but a second request", "[packed]")
{
    Syncing sync;
    const PeerId peer = sync.Meet("8.8.8.8:8333");
    const GetPackedMessage request = sync.SlowDown(peer);
    const int before = sync.store.puts;
    {
        const FailingZstd failing(ZstdCall::kDecompress);
        sync.node.SayRaw(peer, "packed", sync.Batch(request.blocks.items));
    }
    CHECK(sync.store.puts == before);
    CHECK_FALSE(sync.node.IsClosed(peer));
    for (const Uint256& hash : sync.awaited)
        sync.node.SayRaw(peer, "block", sync.Raw(BlockHash(hash)));
    std::set<Uint256> asked;
    for (int i = 0; i < 400; ++i) {
        for (const BlockHash& hash : sync.Requests(peer)) {
            asked.insert(hash);
            sync.node.SayRaw(peer, "block", sync.Raw(hash));
        }
        sync.node.MoveTime(1);
    }
    for (const BlockHash& hash : request.blocks.items) CHECK(asked.contains(hash));
    CHECK(sync.node.chain.Tip().height == 400);
    CHECK_FALSE(sync.node.IsClosed(peer));
}

TEST_CASE("a batch that was not requested ends the connection", "[packed]")
{
    Syncing sync;
    const Bytes batch = sync.Batch({sync.theirs.Tip().hash});
    const PeerId stranger = sync.node.Befriend(ConnectionKind::kInbound, "7.7.7.7:8333");
    sync.node.SayRaw(stranger, "packed", batch);
    CHECK_FALSE(sync.node.IsClosed(stranger)); // unknown to it
    const PeerId peer = sync.Meet("8.8.8.8:8333");
    sync.node.SayRaw(peer, "packed", batch);
    CHECK(sync.node.IsClosed(peer));
}

TEST_CASE("a batch has no blocks beyond those requested", "[packed]")
{
    Syncing sync;
    const PeerId peer = sync.Meet("8.8.8.8:8333");
    const GetPackedMessage request = sync.SlowDown(peer);
    const int before = sync.store.puts;
    sync.node.SayRaw(peer, "packed", sync.Batch({request.blocks.items[0], sync.theirs.Tip().hash}));
    CHECK(sync.node.IsClosed(peer));
    CHECK(sync.store.puts == before);
}

TEST_CASE("a batch waits until the sink has room for its blocks", "[packed]")
{
    Syncing sync;
    const PeerId peer = sync.Meet("8.8.8.8:8333");
    const GetPackedMessage request = sync.SlowDown(peer);
    const Bytes batch = sync.Batch(request.blocks.items);
    const int before = sync.store.puts;
    sync.store.room = BatchBytes(batch) - 1;
    sync.node.SayRaw(peer, "packed", batch);
    CHECK(sync.store.puts == before);
    sync.store.room = 64 << 20;
    sync.node.Run();
    CHECK(sync.store.puts == before + int(request.blocks.items.size()));
}

TEST_CASE("a line is slow by what came while blocks were awaited", "[packed]")
{
    LineSpeed speed;
    int64_t now = 5'000'000;
    speed.Skip(now);
    const auto second = [&](size_t bytes) {
        for (int i = 0; i < 10; ++i) speed.Arrived(bytes / 10, now += LineSpeed::kSpan / 10);
    };
    CHECK_FALSE(speed.IsSlow());
    second(LineSpeed::kSlow);
    CHECK_FALSE(speed.IsSlow());
    second(LineSpeed::kSlow - 10);
    CHECK(speed.IsSlow());
    second(LineSpeed::kFast - 10);
    CHECK(speed.IsSlow());
    second(LineSpeed::kFast);
    CHECK_FALSE(speed.IsSlow());
    now += 100'000'000;
    speed.Skip(now);
    second(LineSpeed::kFast);
    CHECK_FALSE(speed.IsSlow());
}

} // namespace ibd
