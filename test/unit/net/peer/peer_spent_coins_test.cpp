// Spent coins for peers (BIP455): announcement, answers, bounds, violations and order.
#include "net/peer_support.h"
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
        coin.height = static_cast<uint32_t>(std::max(block.height - age, 0));
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
            return CoinsOf(block);
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
