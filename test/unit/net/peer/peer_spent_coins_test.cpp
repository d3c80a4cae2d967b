// Spent coins (BIP455): announcement, answers, bounds, violations and order, as the node that sends
// them and as the one that asks for them with its blocks.
#include "net/peer_store.h"
#include "net/wire/spent_coins.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr int kBlocks = 30;

/** Three coins of each block, created 1, 5 and 20 blocks before it. */
std::vector<Coin> CoinsOf(const HeaderNode& block)
{
    std::vector<Coin> out;
    for (const int32_t age : {1, 5, 20}) {
        Coin& coin = out.emplace_back();
        coin.value = 1'000 * age;
        coin.height = static_cast<uint32_t>(std::max(block.height - age, 1));
        coin.script = Bytes{0x51};
    }
    return out;
}

PeerOptions WithSpentCoins()
{
    PeerOptions out;
    out.serve_spent_coins = true;
    return out;
}

struct Serving {
    explicit Serving(PeerOptions options = WithSpentCoins())
        : node(RegtestParams(), std::move(options))
    {
        node.chain.Extend(kBlocks);
        node.chain.spent = [this](const HeaderNode& block) -> Found<std::vector<Coin>> {
            ++read;
            if (block.height == without_undo) return std::nullopt;
            if (long_scripts) {
                Coin coin;
                coin.script = Bytes(10'000, 0x6a);
                return std::vector<Coin>(500, coin);
            }
            std::vector<Coin> coins = CoinsOf(block);
            if (no_heights) coins.back().height = 0;
            return coins;
        };
        peer = node.Befriend(ConnectionKind::kInbound);
    }
    const HeaderNode& At(int height) { return *node.chain.Tip().Ancestor(height); }
    std::vector<SpentCoinsMessage> Ask(const BlockHash& block, uint32_t before = 0)
    {
        node.Say(peer, GetSpentCoinsMessage{block, before});
        return node.Take<SpentCoinsMessage>(peer);
    }

    int read = 0;
    int without_undo = -1;
    bool long_scripts = false;
    bool no_heights = false;
    TestNode node;
    PeerId peer = -1;
};

/** The features that the node announces to a new peer. */
std::vector<FeatureMessage> Announced(TestNode& node, ConnectionKind kind,
                                      VersionMessage version = TestNode::Version())
{
    const PeerId id = node.Connect(kind, "9.9.9.9:8333");
    node.Say(id, version);
    return node.Take<FeatureMessage>(id);
}

} // namespace

TEST_CASE("spent coins are announced on request, to peers that know features", "[spentcoins]")
{
    Serving s;
    const FeatureMessage feature{"blockspentcoinsv1", {0}};
    for (const auto kind : {ConnectionKind::kInbound, ConnectionKind::kOutboundFullRelay}) {
        CHECK(Announced(s.node, kind) == std::vector{feature});
    }
    CHECK(Announced(s.node, ConnectionKind::kFeeler).empty());
    VersionMessage old = TestNode::Version();
    old.version = kFeatureVersion - 1;
    CHECK(Announced(s.node, ConnectionKind::kInbound, old).empty());
    PeerOptions pruned = WithSpentCoins();
    pruned.prune_mode = true;
    for (const PeerOptions& options : {PeerOptions(), pruned}) {
        Serving without(options);
        CHECK(Announced(without.node, ConnectionKind::kInbound).empty());
        CHECK(without.Ask(without.At(5).hash).empty());
        CHECK_FALSE(without.node.IsClosed(without.peer)); // as any unknown message
        CHECK(without.read == 0);
    }
}

TEST_CASE("spent coins are announced when all blocks have undo data", "[spentcoins]")
{
    TestNode node(RegtestParams(), WithSpentCoins());
    node.chain.Extend(1'200); // more than are looked at in a round
    node.chain.spent = [](const HeaderNode& block) { return CoinsOf(block); };
    for (const int height : {1, 600, 1'199, 1'200}) { // the booster makes that of the last first
        node.chain.lacks_undo = height;
        node.Run();
        CHECK(Announced(node, ConnectionKind::kInbound).empty());
    }
    node.chain.lacks_undo = -1;
    node.Run();
    CHECK(Announced(node, ConnectionKind::kInbound).size() == 1);
    node.chain.lacks_undo = 1'201;
    node.chain.Extend(1);
    CHECK(Announced(node, ConnectionKind::kInbound).empty());
    node.chain.Extend(3, node.chain.Tip().Ancestor(1'190), 7); // a reorganisation to a lower tip
    CHECK(Announced(node, ConnectionKind::kInbound).size() == 1);
}

TEST_CASE("the coins of a block, all or those from below a height", "[spentcoins]")
{
    Serving s;
    for (const int height : {0, 7, kBlocks}) {
        const std::vector<Coin> coins = CoinsOf(s.At(height));
        const auto sent = s.Ask(s.At(height).hash);
        REQUIRE(sent.size() == 1);
        CHECK(sent[0].block == s.At(height).hash);
        REQUIRE(sent[0].coins.size() == 3);
        for (uint32_t i = 0; i < 3; ++i) CHECK(sent[0].coins[i] == CoinOfInput{i, coins[i]});
    }
    const auto before = [&](uint32_t height) {
        std::vector<uint32_t> inputs;
        const std::vector<SpentCoinsMessage> sent = s.Ask(s.At(25).hash, height);
        for (const CoinOfInput& coin : sent.at(0).coins) {
            inputs.push_back(coin.input);
        }
        return inputs;
    };
    CHECK(before(25) == std::vector<uint32_t>{0, 1, 2});
    CHECK(before(24) == std::vector<uint32_t>{1, 2});
    CHECK(before(6) == std::vector<uint32_t>{2});
    CHECK(before(5).empty());
}

TEST_CASE("a request for spent coins without an answer ends the connection", "[spentcoins]")
{
    Serving s;
    SECTION("an unknown block") { CHECK(s.Ask(BlockHash(Sha256d(Bytes{1}))).empty()); }
    SECTION("no undo data")
    {
        s.without_undo = 9;
        CHECK(s.Ask(s.At(9).hash).empty());
    }
    SECTION("coins without a height, in old undo data")
    {
        s.no_heights = true;
        CHECK(s.Ask(s.At(9).hash).empty());
    }
    SECTION("more than a message holds")
    {
        s.long_scripts = true;
        CHECK(s.Ask(s.At(9).hash).empty());
    }
    SECTION("coins that were not requested")
    {
        s.node.Say(s.peer, SpentCoinsMessage{s.At(9).hash, {}});
    }
    CHECK(s.node.IsClosed(s.peer));
}

TEST_CASE("spent coins leave while the peer takes them, before its next request is read",
          "[spentcoins]")
{
    Serving s;
    s.node.link.paused.insert(s.peer);
    s.node.Say(s.peer, GetSpentCoinsMessage{s.At(3).hash, 0});
    s.node.Say(s.peer, GetSpentCoinsMessage{s.At(4).hash, 0});
    s.node.Say(s.peer, PingMessage{77});
    CHECK(s.read == 0);
    s.node.link.paused.clear();
    s.node.Run();
    CHECK(s.read == 2);
    CHECK(s.node.Types(s.peer) == std::vector<std::string>{"bspent", "bspent", "pong"});
}

namespace {

constexpr int kLength = 40;

/** A node that wants blocks with their coins, and peers whose chain has kLength blocks. */
struct Wanting {
    explicit Wanting(int length = kLength) : theirs(node.params)
    {
        theirs.Extend(length);
        node.chain.downloading = true;
        store.with_coins = true;
    }
    PeerId Meet(const char* address, bool has_coins = true,
                ConnectionKind kind = ConnectionKind::kOutboundFullRelay)
    {
        const PeerId id = node.Connect(kind, address);
        node.Say(id, TestNode::Version());
        if (has_coins) {
            node.Say(id, FeatureMessage{std::string(kSpentCoinsFeature), {kSpentCoinsFeatureData}});
        }
        node.Say(id, VerackMessage{});
        for (const PingMessage& ping : node.Take<PingMessage>(id))
            node.Say(id, PongMessage{ping.nonce});
        node.link.sent[id].clear();
        node.Say(id, HeadersOf(theirs.Headers(1, theirs.Tip().height)));
        return id;
    }
    const HeaderNode& Theirs(const BlockHash& hash) const { return *theirs.Find(hash); }
    const HeaderNode* Ours(const BlockHash& hash) const { return node.chain.Find(hash); }
    void SendBlock(PeerId id, const BlockHash& hash)
    {
        node.SayRaw(id, "block", theirs.Block(Theirs(hash)).raw);
    }
    static SpentCoinsMessage Coins(const BlockHash& hash)
    {
        SpentCoinsMessage out{hash, {}};
        out.coins.push_back({3, CoinsOf(HeaderNode{}).front()});
        return out;
    }
    /** The blocks whose coins were requested since the last call. */
    std::vector<BlockHash> CoinRequests(PeerId id)
    {
        std::vector<BlockHash> out;
        for (const auto& request : node.Take<GetSpentCoinsMessage>(id))
            out.push_back(request.block);
        return out;
    }
    /** Answers what the peer is asked for, until it is asked for no more. */
    void AnswerAll(PeerId id)
    {
        for (auto wanted = CoinRequests(id); !wanted.empty(); wanted = CoinRequests(id)) {
            for (const BlockHash& hash : wanted) {
                SendBlock(id, hash);
                node.Say(id, Coins(hash));
            }
        }
    }

    TestNode node{RegtestParams()};
    TestChain theirs;
    Store store{node};
};

} // namespace

TEST_CASE("blocks are requested with their coins, from peers that have these", "[spentcoins]")
{
    Wanting s;
    const PeerId without = s.Meet("7.7.7.7:8333", false);
    CHECK(Asked(s.node, without).empty());
    CHECK_FALSE(s.node.Info(without).sends_spent_coins);
    const PeerId peer = s.Meet("8.8.8.8:8333");
    CHECK(s.node.Info(peer).sends_spent_coins);
    std::vector<OutgoingMessage> requests;
    std::ranges::copy_if(s.node.link.sent[peer], std::back_inserter(requests), [](const auto& m) {
        return m.type == GetDataMessage::kType || m.type == GetSpentCoinsMessage::kType;
    });
    REQUIRE(requests.size() == 2 * BlockDownloader::kMinInFlight);
    const OutgoingMessage &first = requests[0], &second = requests[1];
    REQUIRE(first.type == GetDataMessage::kType);
    REQUIRE(second.type == GetSpentCoinsMessage::kType);
    const auto block = *Decode<GetDataMessage>(first.payload);
    const auto coins = *Decode<GetSpentCoinsMessage>(second.payload);
    REQUIRE(block.list.items.size() == 1);
    CHECK(BlockHash(block.list.items[0].hash) == coins.block);
    CHECK(coins.before == 0);

    s.SendBlock(peer, coins.block);
    CHECK(s.store.puts == 0); // without coins it is not handed on
    s.node.Say(peer, Wanting::Coins(coins.block));
    CHECK(s.store.puts == 1);
    CHECK(s.store.coins.at(s.Ours(coins.block)) == Encode(Wanting::Coins(coins.block)));
}

TEST_CASE("a whole chain comes with its coins", "[spentcoins]")
{
    Wanting s;
    const PeerId peer = s.Meet("8.8.8.8:8333");
    s.AnswerAll(peer);
    CHECK(s.node.chain.Tip().height == kLength);
    CHECK(s.store.coins.size() == kLength);
    CHECK_FALSE(s.node.IsClosed(peer));
}

TEST_CASE("outbound peers without coins do not keep inbound ones from being asked", "[spentcoins]")
{
    Wanting s;
    s.Meet("7.7.7.7:8333", false);
    const PeerId inbound = s.Meet("8.8.8.8:8333", true, ConnectionKind::kInbound);
    const auto wanted = s.CoinRequests(inbound);
    REQUIRE(wanted.size() == BlockDownloader::kMinInFlight);
    s.SendBlock(inbound, wanted[0]);
    s.node.Say(inbound, Wanting::Coins(wanted[0]));
    CHECK_FALSE(s.CoinRequests(inbound).empty()); // though other requests are pending
}

TEST_CASE("answers with spent coins that no honest peer gives", "[spentcoins]")
{
    Wanting s;
    const PeerId peer = s.Meet("8.8.8.8:8333");
    const std::vector<BlockHash> wanted = s.CoinRequests(peer);
    REQUIRE(wanted.size() == BlockDownloader::kMinInFlight);
    SECTION("coins of a block that was not requested")
    {
        s.node.Say(peer, Wanting::Coins(s.theirs.Tip().hash));
    }
    SECTION("coins of no block") { s.node.SayRaw(peer, "bspent", Bytes(31)); }
    SECTION("coins before their block") { s.node.Say(peer, Wanting::Coins(wanted[0])); }
    SECTION("coins twice")
    {
        s.SendBlock(peer, wanted[0]);
        s.node.Say(peer, Wanting::Coins(wanted[0]));
        CHECK_FALSE(s.node.IsClosed(peer));
        s.node.Say(peer, Wanting::Coins(wanted[0]));
    }
    SECTION("the next block before the coins of the last")
    {
        s.SendBlock(peer, wanted[0]);
        CHECK_FALSE(s.node.IsClosed(peer));
        s.SendBlock(peer, wanted[1]);
    }
    CHECK(s.node.IsClosed(peer));
}

TEST_CASE("a second copy of a block that waits for its coins is dropped", "[spentcoins]")
{
    Wanting s;
    const PeerId peer = s.Meet("8.8.8.8:8333");
    const BlockHash block = s.CoinRequests(peer).at(0);
    s.SendBlock(peer, block);
    s.SendBlock(peer, block);
    CHECK(s.CoinRequests(peer).empty()); // its request is open
    s.node.Say(peer, Wanting::Coins(block));
    CHECK(s.store.puts == 1);
    CHECK_FALSE(s.node.IsClosed(peer));
}

TEST_CASE("a block whose coins no peer sends is requested last, and alone", "[spentcoins]")
{
    Wanting s;
    const PeerId first = s.Meet("1.1.1.1:8333");
    const BlockHash bad = s.CoinRequests(first).at(0);
    s.SendBlock(first, bad);
    s.node.manager.Disconnected(first);
    s.node.Run();
    const PeerId last = s.Meet("3.3.3.3:8333");
    while (s.store.coins.size() < kLength - 1) {
        const auto wanted = s.CoinRequests(last);
        REQUIRE_FALSE(wanted.empty());
        for (const BlockHash& hash : wanted) {
            CHECK(hash != bad);
            s.SendBlock(last, hash);
            s.node.Say(last, Wanting::Coins(hash));
        }
    }
    CHECK(s.CoinRequests(last) == std::vector{bad});
}

TEST_CASE("the blocks of all peers that wait for coins are bounded", "[spentcoins]")
{
    Wanting s(200);
    std::vector<PeerId> peers;
    const auto send_large = [&](PeerId peer) {
        Bytes raw = s.theirs.Block(s.Theirs(s.CoinRequests(peer).at(0))).raw;
        raw.resize(kMaxPayload);
        s.node.SayRaw(peer, "block", std::move(raw));
    };
    const size_t fit = SpentCoinsAsking::kMaxHeldBytes / kMaxPayload;
    for (size_t i = 0; i < fit; ++i) {
        peers.push_back(s.Meet(fmt::format("1.1.{}.1:8333", i).c_str()));
        send_large(peers.back());
    }
    const size_t consumed = s.node.link.consumed;
    const PeerId last = s.Meet("2.2.2.2:8333");
    const size_t shaken = s.node.link.consumed;
    CHECK(shaken > consumed);
    send_large(last);
    CHECK(s.node.link.consumed == shaken); // it is not read
    s.node.manager.Disconnected(peers[0]);
    s.node.Run();
    CHECK(s.node.link.consumed == shaken + kMaxPayload);
}

TEST_CASE("a block that the next goal has is dropped, with its coins", "[spentcoins]")
{
    Wanting s;
    const PeerId peer = s.Meet("8.8.8.8:8333");
    const BlockHash block = s.CoinRequests(peer).at(0);
    s.store.with_coins = false;
    s.node.chain.Keep(*s.Ours(block), s.theirs.Block(s.Theirs(block)).raw);
    s.node.manager.DownloadInto(s.store, s.store);
    s.SendBlock(peer, block);
    s.node.Say(peer, Wanting::Coins(block));
    CHECK(s.store.puts == 0);
    CHECK_FALSE(s.node.IsClosed(peer));
}

TEST_CASE("spent coins from a peer that never announced them are an unknown message",
          "[spentcoins]")
{
    Wanting s;
    const PeerId peer = s.Meet("8.8.8.8:8333", false);
    s.node.Say(peer, Wanting::Coins(s.theirs.Tip().hash));
    CHECK_FALSE(s.node.IsClosed(peer));
}

TEST_CASE("a block that was requested without coins is requested again with them", "[spentcoins]")
{
    Wanting s;
    s.store.with_coins = false;
    const PeerId peer = s.Meet("8.8.8.8:8333");
    const auto asked = Asked(s.node, peer);
    REQUIRE_FALSE(asked.empty());
    s.store.with_coins = true;
    for (const InventoryItem& item : asked) s.SendBlock(peer, BlockHash(item.hash));
    CHECK(s.store.puts == 0);
    s.AnswerAll(peer);
    CHECK(s.store.coins.size() == kLength);
    CHECK_FALSE(s.node.IsClosed(peer));
}

TEST_CASE("coins that come after the download ended are ignored", "[spentcoins]")
{
    Wanting s;
    const PeerId peer = s.Meet("8.8.8.8:8333");
    const std::vector<BlockHash> wanted = s.CoinRequests(peer);
    s.SendBlock(peer, wanted[0]);
    s.node.manager.StopDownload();
    CHECK(s.node.Info(peer).in_flight.size() == wanted.size() - 1); // of its block it is not judged
    s.node.Say(peer, Wanting::Coins(wanted[0]));
    s.SendBlock(peer, wanted[1]);
    s.node.Say(peer, Wanting::Coins(wanted[1]));
    CHECK(s.store.puts == 0);
    CHECK_FALSE(s.node.IsClosed(peer));
    s.node.manager.DownloadInto(s.store, s.store);
    s.node.Run();
    for (size_t i = 2; i < wanted.size(); ++i) { // these requests were kept
        s.SendBlock(peer, wanted[i]);
        s.node.Say(peer, Wanting::Coins(wanted[i]));
    }
    s.AnswerAll(peer);
    CHECK(s.store.coins.size() == kLength);
}

TEST_CASE("with bad coins a block is requested from another peer, without coins from the same",
          "[spentcoins]")
{
    Wanting s;
    const PeerId liar = s.Meet("8.8.8.8:8333");
    const BlockHash block = s.CoinRequests(liar).at(0);
    s.store.bad_coins.insert(liar);
    s.SendBlock(liar, block);
    s.node.Say(liar, Wanting::Coins(block));
    s.node.Run();
    CHECK(s.node.link.discouraged == std::vector<std::string>{"8.8.8.8"});
    CHECK(s.node.IsClosed(liar));
    const PeerId other = s.Meet("9.9.9.9:8333");
    s.AnswerAll(other);
    CHECK(s.store.coins.size() == kLength);
}

TEST_CASE("a peer named by the user is asked for the block again when no coins are wanted",
          "[spentcoins]")
{
    Wanting s;
    const PeerId id = s.node.Connect(ConnectionKind::kManual);
    s.node.Say(id, TestNode::Version());
    s.node.Say(id, FeatureMessage{std::string(kSpentCoinsFeature), {kSpentCoinsFeatureData}});
    s.node.Say(id, VerackMessage{});
    s.node.Say(id, HeadersOf(s.theirs.Headers(1, 1)));
    const BlockHash block = s.CoinRequests(id).at(0);
    s.store.bad_coins.insert(id);
    s.SendBlock(id, block);
    s.node.Say(id, Wanting::Coins(block));
    s.node.Run();
    CHECK_FALSE(s.node.IsClosed(id));
    CHECK(s.CoinRequests(id).empty());
    s.store.with_coins = false;
    s.node.manager.DownloadInto(s.store, s.store);
    s.node.Run();
    const auto asked = Asked(s.node, id);
    REQUIRE(asked.size() == 1);
    CHECK(BlockHash(asked[0].hash) == block);
}
