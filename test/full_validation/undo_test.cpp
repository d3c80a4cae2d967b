// Undo data that is false, damaged or missing: it is never accepted, and there is always a fallback
// with height and reason, and the same hints work again once it is right.
#include "setup.h"

#include "support/testdata.h"

#include <fstream>

using namespace ibd;
using namespace ibd::test;
using Catch::Contains;

namespace {

/** A block of the chain with a transaction of two or more inputs that spends no coinbase and
 *  nothing of its own block. */
struct Place {
    int height = 0;
    size_t tx = 0; //!< in the undo data
};

Place FindPlace(const FullSetup& setup)
{
    for (int h = setup.Height(); h > 100; --h) {
        const BlockUndo undo = setup.UndoAt(h);
        for (size_t t = 0; t < undo.txs.size(); ++t) {
            const auto& spent = undo.txs[t].spent;
            const bool plain = std::all_of(spent.begin(), spent.end(), [&](const Coin& c) {
                return !c.coinbase && c.height + 2 < static_cast<uint32_t>(h);
            });
            if (plain && spent.size() >= 2 && !(spent[0] == spent[1])) return {h, t};
        }
    }
    FAIL("the chain has no such transaction");
    return {};
}

struct Lie {
    const char* name;
    std::function<void(std::vector<Coin>&)> tell;
    VerdictKind kind;
    const char* reason;
};

/** Lies about the coins that a transaction at `height` spends. */
std::vector<Lie> Lies(uint32_t height)
{
    constexpr auto kSum = VerdictKind::kHintsWrong;
    constexpr auto kRule = VerdictKind::kBlockInvalid;
    constexpr auto kUndo = VerdictKind::kNoUndo;
    return {
        {"one satoshi more", [](auto& c) { ++c[0].value; }, kSum, "undo data are wrong"},
        {"value moved from coin to coin", [](auto& c) { --c[0].value, ++c[1].value; }, kSum,
         "undo data are wrong"},
        {"value gone",
         [](auto& c) {
             for (Coin& coin : c) coin.value = 0;
         },
         kRule, "bad-txns-in-belowout"},
        {"another height", [](auto& c) { ++c[0].height; }, kSum, "undo data are wrong"},
        {"height of this block", [=](auto& c) { c[0].height = height; }, kRule,
         "bad-txns-inputs-missingorspent"},
        {"from the future", [=](auto& c) { c[0].height = height + 1; }, kRule,
         "bad-txns-inputs-missingorspent"},
        {"from far in the future", [](auto& c) { c[0].height = 0x7fffffff; }, kRule,
         "bad-txns-inputs-missingorspent"},
        {"no height", [](auto& c) { c[0].height = 0; }, kUndo, "coins have no height"},
        {"a coinbase, ripe",
         [](auto& c) {
             c[0].height = 1;
             c[0].coinbase = true;
         },
         kSum, "undo data are wrong"},
        {"a coinbase, not ripe",
         [=](auto& c) {
             c[0].height = height - 1;
             c[0].coinbase = true;
         },
         kRule, "bad-txns-premature-spend-of-coinbase"},
        {"another script", [](auto& c) { c[0].script = ScriptBytes(Bytes{0x00}); }, kRule,
         "block-script-verify-flag-failed"},
        {"two coins swapped",
         [](auto& c) {
             std::swap(c[0].height, c[1].height);
             std::swap(c[0].value, c[1].value);
         },
         kSum, "undo data are wrong"},
        {"one coin too few", [](auto& c) { c.pop_back(); }, kUndo, "number of inputs"},
        {"one coin too many", [](auto& c) { c.push_back(c[0]); }, kUndo, "number of inputs"},
    };
}

} // namespace

TEST_CASE("Full validation: undo data, or a peer, that lies about coins is found out")
{
    const bool supplied = GENERATE(false, true);
    const auto tune = [&](BoosterOptions& options) { options.coins_supplied = supplied; };
    FullSetup setup({.seed = 21});
    const Place place = FindPlace(setup);
    HeaderNode& node = setup.NodeAt(place.height);
    const BlockUndo honest = setup.UndoAt(place.height);
    for (const Lie& lie : Lies(static_cast<uint32_t>(place.height))) {
        INFO(lie.name);
        BlockUndo undo = honest;
        lie.tell(undo.txs[place.tx].spent);
        if (undo == honest) continue; // coins of equal height and value
        setup.PutUndo(node, undo);
        const auto verdict = setup.Full({}, nullptr, tune);
        if (!verdict) FAIL(verdict.Message());
        INFO(verdict->reason);
        // Coins that do not fit are no damage if a peer claims them.
        const bool misfit = supplied && lie.kind == VerdictKind::kNoUndo;
        CHECK(int(verdict->kind) == int(misfit ? VerdictKind::kBlockInvalid : lie.kind));
        CHECK_THAT(verdict->reason, Contains(supplied && lie.kind == VerdictKind::kHintsWrong
                                                 ? "spent coins of peers are wrong"
                                                 : lie.reason));
        if (lie.kind != VerdictKind::kHintsWrong) {
            CHECK(verdict->height == place.height);
            CHECK_THAT(verdict->reason, Contains("height " + std::to_string(place.height)));
        }
        REQUIRE_FALSE(setup.HasPublished());
    }
    setup.PutUndo(node, honest);
    RequireAccepted(setup.Full({}, nullptr, tune));
    REQUIRE(setup.Published() == setup.SerialCoins());
}

TEST_CASE("Full validation: every single change of a spent coin is found out")
{
    FullSetup setup({.seed = 22, .signed_spends = true});
    auto& rng = TestRng();
    const auto tune = [&](BoosterOptions& options) { options.coins_supplied = rng() % 2 == 0; };
    for (int round = 0; round < 60; ++round) {
        const int height =
            101 + static_cast<int>(rng() % static_cast<size_t>(setup.Height() - 100));
        const BlockUndo honest = setup.UndoAt(height);
        if (honest.txs.empty()) continue;
        BlockUndo undo = honest;
        auto& spent = undo.txs[rng() % undo.txs.size()].spent;
        Coin& coin = spent[rng() % spent.size()];
        Bytes script(coin.script.data(), coin.script.data() + coin.script.size());
        switch (rng() % 4) {
        case 0: coin.value ^= Amount{1} << rng() % 40; break;
        case 1: coin.height ^= 1u << rng() % 8; break;
        case 2: coin.coinbase = !coin.coinbase; break;
        default:
            if (script.empty())
                script.push_back(0x51);
            else
                script[rng() % script.size()] ^= static_cast<uint8_t>(1 << rng() % 8);
            coin.script.Assign(script);
        }
        CAPTURE(round, height);
        setup.PutUndo(setup.NodeAt(height), undo);
        const auto verdict = setup.Full({}, nullptr, tune);
        if (!verdict) FAIL(verdict.Message());
        REQUIRE(verdict->kind != VerdictKind::kDone);
        REQUIRE_FALSE(verdict->reason.empty());
        REQUIRE_FALSE(setup.HasPublished());
        setup.PutUndo(setup.NodeAt(height), honest);
    }
    RequireAccepted(setup.Full({}, nullptr, tune));
}

TEST_CASE("Full validation: coins swapped between inputs of different transactions")
{
    FullSetup setup({.seed = 23, .outputs_per_block = 30});
    for (int h = setup.Height(); h > 100; --h) {
        const BlockUndo honest = setup.UndoAt(h);
        if (honest.txs.size() < 2) continue;
        BlockUndo undo = honest;
        std::swap(undo.txs[0].spent[0], undo.txs[1].spent[0]);
        if (undo == honest) continue;
        setup.PutUndo(setup.NodeAt(h), undo);
        const auto verdict = Must(setup.Full({}));
        INFO(verdict.reason);
        REQUIRE(verdict.kind != VerdictKind::kDone);
        REQUIRE_FALSE(setup.HasPublished());
        setup.PutUndo(setup.NodeAt(h), honest);
    }
    RequireAccepted(setup.Full({}));
}

namespace {

/** A record in which all coins have the same amount; Encode() would refuse an impossible one. */
Bytes WithAmounts(const BlockUndo& undo, Amount amount)
{
    REQUIRE_FALSE(undo.txs.empty());
    Bytes bytes;
    Writer writer(bytes);
    writer.CompactSize(undo.txs.size());
    for (const TxUndo& tx : undo.txs) {
        writer.CompactSize(tx.spent.size());
        for (const Coin& coin : tx.spent) {
            AppendSpentCoin(bytes, amount, coin.script, coin.height, coin.coinbase);
        }
    }
    return bytes;
}

} // namespace

TEST_CASE("Full validation: missing, cut and damaged undo data name block and height")
{
    FullSetup setup({.seed = 24});
    HeaderNode& node = setup.NodeAt(110);
    const auto refused = [&](const char* reason) {
        const auto verdict = setup.Full({});
        if (!verdict) FAIL(verdict.Message());
        INFO(verdict->reason);
        CHECK(verdict->kind == VerdictKind::kNoUndo);
        CHECK(verdict->height == 110);
        CHECK_THAT(verdict->reason, Contains(reason));
        REQUIRE_FALSE(setup.HasPublished());
    };
    SECTION("no record")
    {
        node.status &= ~uint32_t{kHaveUndo};
        refused("at height 110 has none");
        node.status |= kHaveUndo;
    }
    SECTION("the lowest without one is named")
    {
        setup.NodeAt(120).status &= ~uint32_t{kHaveUndo};
        node.status &= ~uint32_t{kHaveUndo};
        refused("at height 110 has none");
        setup.NodeAt(120).status |= kHaveUndo;
        node.status |= kHaveUndo;
    }
    SECTION("wrong checksum")
    {
        const Path path = setup.Store().UndoPath(node.file);
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(node.undo_pos);
        const int before = file.get();
        file.seekp(node.undo_pos);
        file.put(static_cast<char>(before ^ 1));
        file.flush();
        refused("wrong checksum of the undo data");
        file.seekp(node.undo_pos);
        file.put(static_cast<char>(before));
    }
    SECTION("bytes left over")
    {
        Bytes undo = setup.UndoAt(110).Encode();
        undo.push_back(0);
        setup.PutUndoBytes(node, undo);
        refused("bytes too many");
        setup.PutUndo(node, setup.UndoAt(110));
    }
    SECTION("an impossible amount")
    {
        setup.PutUndoBytes(node, WithAmounts(setup.UndoAt(110), kMaxMoney + 1));
        refused("impossible amount");
        setup.PutUndo(node, setup.UndoAt(110));
    }
    SECTION("of another block")
    {
        BlockUndo undo = setup.UndoAt(110);
        undo.txs.emplace_back().spent.push_back({1, ScriptBytes(Bytes{0x51}), 1, false});
        setup.PutUndo(node, undo);
        refused("number of transactions");
        setup.PutUndo(node, setup.UndoAt(110));
    }
    RequireAccepted(setup.Full({}));
}

TEST_CASE("Full validation: a rev file that is gone")
{
    FullSetup setup({.seed = 25});
    const int32_t file = setup.NodeAt(115).file;
    int lowest = 115;
    while (lowest > 1 && setup.NodeAt(lowest - 1).file == file) --lowest;
    const Path path = setup.Store().UndoPath(file);
    std::filesystem::rename(path, path.string() + ".away");
    const auto verdict = Must(setup.Full({}));
    REQUIRE(verdict.kind == VerdictKind::kNoUndo);
    REQUIRE(verdict.height == lowest);
    std::filesystem::rename(path.string() + ".away", path);
    RequireAccepted(setup.Full({}));
}
