// Headers from peers and for them, and blocks for them: whole conversations between two nodes, and
// scripted peers that break the rules.
#include "net/peer_store.h"

#include "support/catch.h"

namespace ibd {

using namespace test;
using Types = std::vector<std::string>;

namespace {

/** Two nodes that are connected; `a` called. */
struct Pair {
    explicit Pair(PeerOptions options = {})
        : a(RegtestParams(), options, 1), b(RegtestParams(), options, 2)
    {
    }
    void Connect(ConnectionKind kind)
    {
        b_in_a = a.Connect(kind);
        a_in_b = b.Connect(ConnectionKind::kInbound);
        Talk();
    }
    void Talk() { Exchange(a, b_in_a, b, a_in_b); }

    TestNode a, b;
    PeerId b_in_a = -1, a_in_b = -1;
};

Arith256 WorkOfBlocks(uint64_t count)
{
    return BlockWork(RegtestParams().genesis.header.bits) * Arith256(count);
}

} // namespace

TEST_CASE("headers from one node to another", "[peer_headers]")
{
    Pair pair;
    pair.b.chain.Extend(4500); // three messages
    pair.Connect(ConnectionKind::kOutboundFullRelay);
    CHECK(pair.a.chain.BestHeader().hash == pair.b.chain.Tip().hash);
    CHECK(pair.a.Info(pair.b_in_a).synced_headers == 4500);
    CHECK(pair.a.Info(pair.b_in_a).established);
}

TEST_CASE("headers with little work are stored only behind presync", "[peer_headers]")
{
    const auto minimum = WorkOfBlocks(4001); // with genesis 4,000 headers
    for (const int length : {3999, 4000, 4700}) {
        Pair pair(WithMinimumWork(minimum));
        pair.b.chain.Extend(length);
        pair.a.chain.downloading = true;
        pair.Connect(ConnectionKind::kOutboundFullRelay);
        const bool enough = length >= 4000;
        CHECK(pair.a.chain.BestHeader().height == (enough ? length : 0));
        // A node with too little work does not serve headers: it sends an empty message.
        CHECK_FALSE(pair.a.IsClosed(pair.b_in_a));
    }
}

TEST_CASE("a low-work chain is not stored", "[peer_headers]")
{
    TestNode node(RegtestParams(), WithMinimumWork(WorkOfBlocks(3000)));
    TestChain theirs(node.params);
    theirs.Extend(2500);
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    node.Say(id, HeadersOf(theirs.Headers(1, 1999)));
    CHECK(node.chain.BestHeader().height == 0);
    CHECK(node.Types(id).empty()); // not full: there cannot be more
    node.Say(id, HeadersOf(theirs.Headers(1, 2000)));
    CHECK(node.Info(id).presynced_headers == 2000);
    CHECK(node.Take<GetHeadersMessage>(id).size() == 1);
    node.Say(id, HeadersOf({}));
    CHECK(node.Info(id).presynced_headers == -1);
    CHECK(node.chain.BestHeader().height == 0);
    const PeerId friendly = node.Befriend(ConnectionKind::kInbound, "1.2.3.4:5", kPermitNoBan);
    node.Say(friendly, HeadersOf(theirs.Headers(1, 10)));
    CHECK(node.chain.BestHeader().height == 10);
    CHECK_FALSE(node.IsClosed(id));

    node.chain.downloading = true;
    const PeerId chosen = node.Befriend(ConnectionKind::kBlockRelay, "1.2.3.5:5");
    node.Say(chosen, HeadersOf(theirs.Headers(1, 10))); // known already, and all that it has
    CHECK(node.IsClosed(chosen));
}

TEST_CASE("headers that break a rule", "[peer_headers]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(10);
    const auto punished = [&](std::vector<BlockHeader> headers) {
        node.link.discouraged.clear();
        const PeerId id = node.Befriend(ConnectionKind::kInbound);
        node.Say(id, HeadersOf(std::move(headers)));
        return !node.link.discouraged.empty();
    };
    auto headers = theirs.Headers(1, 5);
    std::swap(headers[2], headers[3]);
    CHECK(punished(headers)); // not continuous
    headers = theirs.Headers(1, 5);
    while (CheckProofOfWork(headers[4].Hash(), headers[4].bits, node.params.consensus)) {
        ++headers[4].nonce;
    }
    CHECK(punished(headers));
    const auto with_time = [&](uint32_t time) {
        auto out = theirs.Headers(1, 5);
        out[4].time = time;
        while (!CheckProofOfWork(out[4].Hash(), out[4].bits, node.params.consensus)) {
            ++out[4].nonce;
        }
        return out;
    };
    CHECK_FALSE(punished(with_time(uint32_t(kStart) + 7201))); // may be our clock
    CHECK(punished(with_time(1)));
    CHECK(node.chain.BestHeader().height == 4);
    CHECK_FALSE(punished(theirs.Headers(1, 10)));
    CHECK(node.chain.BestHeader().height == 10);

    // Headers after a failed block: only an outbound peer is punished.
    theirs.Extend(3);
    node.chain.Tree().MarkFailed(node.chain.Tree().Find(theirs.Headers(10, 1)[0].Hash()));
    const auto punished_as = [&](ConnectionKind kind) {
        node.link.discouraged.clear();
        node.Say(node.Befriend(kind), HeadersOf(theirs.Headers(10, 1)));
        return !node.link.discouraged.empty();
    };
    CHECK_FALSE(punished_as(ConnectionKind::kInbound));
    CHECK(punished_as(ConnectionKind::kOutboundFullRelay));
    CHECK(punished(theirs.Headers(11, 1)));
}

TEST_CASE("headers that do not connect are asked about", "[peer_headers]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.Extend(20);
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    node.Say(id, HeadersOf({})); // answers our first question
    node.link.sent[id].clear();
    node.Say(id, HeadersOf(theirs.Headers(20, 1)));
    const auto asked = node.Take<GetHeadersMessage>(id);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].locator.items == std::vector{node.params.genesis.hash});
    node.Say(id, HeadersOf(theirs.Headers(20, 1)));
    CHECK(node.Types(id).empty()); // one question at a time
    node.Say(id, HeadersOf(theirs.Headers(1, 20)));
    CHECK(node.Info(id).synced_headers == 20);

    // An inv makes us ask for headers, never for the block.
    theirs.Extend(1);
    InvMessage inv;
    inv.list.items = {{kInvBlock, theirs.Tip().hash}};
    node.link.sent[id].clear();
    node.Say(id, inv);
    CHECK(node.Types(id) == Types{"getheaders"});
    node.Say(id, HeadersOf(theirs.Headers(21, 1)));
    CHECK(node.chain.BestHeader().height == 21);
    // A compact block is news of a header.
    theirs.Extend(1);
    node.Say(id, SendCompactMessage{});
    CompactBlockMessage compact;
    compact.header = theirs.Headers(22, 1)[0];
    node.Say(id, compact);
    CHECK(node.chain.BestHeader().height == 22);
}

TEST_CASE("headers are asked of one peer, until they are of today", "[peer_headers]")
{
    TestNode node(RegtestParams());
    const PeerId first = node.Connect(ConnectionKind::kInbound);
    node.Say(first, TestNode::Version());
    node.Say(first, VerackMessage{});
    CHECK(node.Take<GetHeadersMessage>(first).size() == 1);
    const PeerId second = node.Connect(ConnectionKind::kOutboundFullRelay);
    node.Say(second, TestNode::Version());
    node.Say(second, VerackMessage{});
    CHECK(node.Take<GetHeadersMessage>(second).empty());
    node.manager.Disconnected(first);
    node.Run();
    CHECK(node.Take<GetHeadersMessage>(second).size() == 1);
    node.chain.Extend(5); // of today
    const PeerId third = node.Connect(ConnectionKind::kInbound);
    node.Say(third, TestNode::Version());
    node.Say(third, VerackMessage{});
    CHECK(node.Take<GetHeadersMessage>(third).size() == 1);
}

TEST_CASE("while headers come from one peer, others are asked whether they have the best one",
          "[peer_headers]")
{
    TestNode node(RegtestParams());
    TestChain theirs(node.params);
    theirs.first_time = kStart - 100'000'000; // not of today
    theirs.Extend(40);
    Store store(node);
    const PeerId before = node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.1:1");
    CHECK(node.Take<GetHeadersMessage>(before).empty());
    const PeerId no_block_missing = node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.2:1");
    CHECK(node.Take<GetHeadersMessage>(no_block_missing).empty());
    node.manager.Disconnected(no_block_missing);
    node.Say(before, HeadersOf(theirs.Headers(1, 30)));

    const PeerId other = node.Connect(ConnectionKind::kOutboundFullRelay, "1.1.1.3:1");
    node.Say(other, TestNode::Version());
    node.Say(other, VerackMessage{});
    const auto sent = node.Take<GetHeadersMessage>(other);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].locator.items.front() == theirs.Headers(29, 1)[0].Hash());
    CHECK(sent[0].stop == theirs.Headers(30, 1)[0].Hash()); // so the answer is one header
    node.Say(other, HeadersOf(theirs.Headers(30, 1)));
    CHECK(Asked(node, other).size() == 14); // the blocks not requested from the first
    // It may have more headers.
    CHECK(node.manager.AskForLastHeaders().complete == 1);
    node.MoveTime(5);
    CHECK(node.Take<GetHeadersMessage>(other).size() == 1);
}

TEST_CASE("a peer that sends headers too slowly is replaced", "[peer_headers]")
{
    TestNode node(RegtestParams());
    const PeerId slow = node.Befriend(ConnectionKind::kManual, "1.1.1.1:1");
    const int64_t per_header = (kStart - int64_t{node.params.genesis.header.time}) / 600 / 1000;
    const auto pass = [&](int64_t seconds) {
        for (; seconds > 0; seconds -= 60) {
            node.MoveTime(std::min<int64_t>(seconds, 60));
            for (const PingMessage& ping : node.Take<PingMessage>(slow)) {
                node.Say(slow, PongMessage{ping.nonce});
            }
        }
    };
    pass(15 * 60 + per_header + 1);
    CHECK_FALSE(node.IsClosed(slow)); // there is no other peer
    node.Befriend(ConnectionKind::kOutboundFullRelay, "1.1.1.2:1");
    CHECK(node.IsClosed(slow));
}

TEST_CASE("a peer of our choice with an old chain is replaced", "[peer_headers]")
{
    for (const bool catches_up : {false, true}) {
        TestNode node(RegtestParams());
        node.chain.Extend(30);
        const PeerId id = node.Befriend(ConnectionKind::kBlockRelay);
        node.Say(id, HeadersOf(node.chain.Headers(1, 20)));
        node.MoveTime(20 * 60);
        CHECK_FALSE(node.IsClosed(id));
        node.link.sent[id].clear();
        node.MoveTime(1);
        const auto asked = node.Take<GetHeadersMessage>(id);
        REQUIRE(asked.size() == 1);
        CHECK(asked[0].locator.items[0] == node.chain.Tip().prev->hash);
        if (catches_up) node.Say(id, HeadersOf(node.chain.Headers(21, 10)));
        node.MoveTime(121);
        CHECK(node.IsClosed(id) == !catches_up);
    }
    // Four peers that were useful once are kept, regardless of their later behaviour.
    TestNode node(RegtestParams());
    node.chain.Extend(5);
    std::vector<PeerId> ids;
    for (const char* address : {"1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4", "1.1.1.5"}) {
        ids.push_back(node.Befriend(ConnectionKind::kOutboundFullRelay, address));
        node.Say(ids.back(), HeadersOf(node.chain.Headers(1, 5)));
    }
    node.chain.Extend(5);
    node.MoveTime(1);
    node.MoveTime(20 * 60 - 5);
    node.MoveTime(6);
    node.MoveTime(121);
    for (size_t i = 0; i < ids.size(); ++i) CHECK(node.IsClosed(ids[i]) == (i == 4));
}

TEST_CASE("serving headers", "[peer_headers]")
{
    TestNode node(RegtestParams());
    node.chain.Extend(2100);
    const HeaderNode& tip = node.chain.Tip();
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    const auto ask = [&](std::vector<BlockHash> locator, BlockHash stop = {}) {
        GetHeadersMessage message;
        message.locator.items = std::move(locator);
        message.stop = stop;
        node.link.sent[id].clear();
        node.Say(id, message);
        const auto answers = node.Take<HeadersMessage>(id);
        return answers.empty() ? std::optional<std::vector<BlockHeader>>{} : answers[0].list.items;
    };
    CHECK(ask({node.params.genesis.hash}) == node.chain.Headers(1, 2000));
    CHECK(ask({BlockHash{}}) == node.chain.Headers(1, 2000)); // unknown: from the start
    CHECK(ask({BlockHash{}, tip.Ancestor(2000)->hash}) == node.chain.Headers(2001, 100));
    CHECK(ask({tip.Ancestor(10)->hash}, tip.Ancestor(15)->hash) == node.chain.Headers(11, 5));
    CHECK(ask({tip.hash}) == std::vector<BlockHeader>{});
    CHECK(ask({}, tip.Ancestor(7)->hash) == node.chain.Headers(7, 1));
    CHECK_FALSE(ask({}, BlockHash{}));

    // Beside the active chain: only what is recent, and valid.
    const HeaderNode& stale = node.chain.Extend(1, tip.Ancestor(2098), 1, false);
    CHECK(ask({}, stale.hash) == std::vector{stale.Header()});
    CHECK(ask({stale.hash}) == node.chain.Headers(1, 2000));
    const HeaderNode& child = node.chain.Extend(1, &tip, 5, false);
    CHECK(ask({child.hash}) == std::vector<BlockHeader>{}); // knows more than we follow
    node.chain.Tree().Find(stale.hash)->status = kValidTree;
    CHECK_FALSE(ask({}, stale.hash));

    node.chain.importing = true;
    CHECK_FALSE(ask({tip.hash}));
    node.chain.importing = false;
    CHECK_FALSE(ask(std::vector<BlockHash>(101)) == std::nullopt);
    CHECK_FALSE(node.IsClosed(id));
    ask(std::vector<BlockHash>(102));
    CHECK(node.IsClosed(id));
}

TEST_CASE("serving blocks", "[peer_serving]")
{
    TestNode node(RegtestParams());
    node.chain.Extend(1200);
    const HeaderNode& tip = node.chain.Tip();
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    GetDataMessage message;
    const HeaderNode& fourth = *tip.Ancestor(4);
    const HeaderNode& fifth = *tip.Ancestor(5);
    message.list.items = {{kInvWitnessTx, Uint256{}}, {kInvWitnessBlock, fourth.hash},
                          {kInvBlock, fifth.hash},    {77, Uint256{}},
                          {kInvBlock, Uint256{}},     {kInvFilteredBlock, fifth.hash},
                          {kInvTx, Uint256{}},        {kInvCompactBlock, fifth.hash}};
    node.Say(id, message);
    std::vector<Bytes> blocks;
    size_t missing = 0;
    for (const auto& sent : node.link.sent[id]) {
        if (sent.type == "block") blocks.push_back(sent.payload);
        if (sent.type != "notfound") continue;
        missing += Decode<NotFoundMessage>(sent.payload)->list.items.size();
    }
    CHECK(blocks == std::vector{node.chain.Block(fourth).raw, node.chain.Block(fifth).stripped,
                                node.chain.Block(fifth).raw});
    CHECK(missing == 2);
    node.link.sent[id].clear();
    node.Say(id, GetBlockTxnMessage{fourth.hash, {0}});
    CHECK(node.Types(id) == Types{"block"});

    // While its answers cannot leave, neither requests nor anything else is looked at.
    node.link.paused.insert(id);
    node.Say(id, message);
    node.Say(id, PingMessage{3});
    CHECK(node.Types(id).empty());
    node.link.paused.clear();
    node.Run();
    CHECK(node.Types(id).back() == "pong");

    // getblocks, as old nodes sync: 500 hashes, and the next when the last is fetched.
    GetBlocksMessage old;
    old.locator.items = {tip.Ancestor(100)->hash};
    node.Say(id, old);
    auto inv = node.Take<InvMessage>(id);
    REQUIRE(inv.size() == 1);
    REQUIRE(inv[0].list.items.size() == 500);
    CHECK(inv[0].list.items.front() == InventoryItem{kInvBlock, tip.Ancestor(101)->hash});
    CHECK(inv[0].list.items.back() == InventoryItem{kInvBlock, tip.Ancestor(600)->hash});
    message.list.items = {{kInvBlock, tip.Ancestor(599)->hash}};
    node.Say(id, message);
    CHECK(node.Types(id) == Types{"block"});
    message.list.items = {{kInvBlock, tip.Ancestor(600)->hash}};
    node.Say(id, message);
    inv = node.Take<InvMessage>(id);
    REQUIRE(inv.size() == 1);
    CHECK(inv[0].list.items == std::vector{InventoryItem{kInvBlock, tip.hash}});
    node.Say(id, message);
    CHECK(node.Types(id) == Types{"block"});
    old.stop = tip.Ancestor(103)->hash;
    node.Say(id, old);
    CHECK(node.Take<InvMessage>(id)[0].list.items.size() == 2);
}

TEST_CASE("a limited node serves the last blocks only", "[peer_serving]")
{
    TestNode node(RegtestParams(), WithServices(kNodeNetworkLimited | kNodeWitness));
    node.chain.Extend(400);
    const auto served = [&](int height, uint32_t permissions) {
        const PeerId id = node.Befriend(ConnectionKind::kInbound, "8.8.8.8:8333", permissions);
        node.Say(id, RequestFor(kInvWitnessBlock, {node.chain.Tip().Ancestor(height)->hash}));
        const bool has_block = node.Types(id) == Types{"block"};
        CHECK(node.IsClosed(id) == !has_block);
        return has_block;
    };
    CHECK(served(110, kPermitNone));
    CHECK_FALSE(served(109, kPermitNone));
    CHECK(served(109, kPermitNoBan));
}

TEST_CASE("announcements", "[peer_serving]")
{
    TestNode node(RegtestParams());
    node.chain.Extend(10);
    const PeerId by_headers = node.Befriend(ConnectionKind::kInbound, "1.1.1.1:1");
    const PeerId by_inv = node.Befriend(ConnectionKind::kInbound, "1.1.1.2:1");
    node.Say(by_headers, SendHeadersMessage{});
    node.Say(by_headers, HeadersOf(node.chain.Headers(1, 10)));
    node.link.sent.clear();
    const auto extend = [&](int count) {
        const HeaderNode& before = node.chain.Tip();
        node.manager.TipChanged(node.chain.Extend(count), before);
        node.Run();
    };
    extend(2);
    auto headers = node.Take<HeadersMessage>(by_headers);
    REQUIRE(headers.size() == 1);
    CHECK(headers[0].list.items == node.chain.Headers(11, 2));
    auto inv = node.Take<InvMessage>(by_inv);
    REQUIRE(inv.size() == 1);
    CHECK(inv[0].list.items == std::vector{InventoryItem{kInvBlock, node.chain.Tip().hash}});
    extend(1); // connects to the announced headers
    CHECK(node.Take<HeadersMessage>(by_headers)[0].list.items == node.chain.Headers(13, 1));
    extend(8);
    CHECK(node.Take<HeadersMessage>(by_headers)[0].list.items == node.chain.Headers(14, 8));

    // The peer announced it: it needs no announcement.
    node.Say(by_headers, HeadersOf({node.chain.Extend(1, nullptr, 3, false).Header()}));
    const HeaderNode& before = node.chain.Tip();
    node.chain.SetTip(*node.chain.Tree().BestHeader());
    node.link.sent.clear();
    node.manager.TipChanged(node.chain.Tip(), before);
    node.Run();
    CHECK(node.Types(by_headers).empty());
    CHECK(node.Types(by_inv) == Types{"inv"});

    // It gets the last block of a branch of nine by inv, because it lacks the first.
    const HeaderNode& fork = *node.chain.Tip().Ancestor(15);
    node.manager.TipChanged(node.chain.Extend(9, &fork, 9), fork);
    node.Run();
    CHECK(node.Types(by_headers) == Types{"inv"});
}

TEST_CASE("nothing is announced during initial download", "[peer_serving]")
{
    TestNode node(RegtestParams());
    const PeerId id = node.Befriend(ConnectionKind::kInbound);
    node.chain.downloading = true;
    const HeaderNode& before = node.chain.Tip();
    node.manager.TipChanged(node.chain.Extend(1), before);
    node.Run();
    CHECK(node.Types(id).empty());
}

} // namespace ibd
