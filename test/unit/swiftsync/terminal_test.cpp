// The terminal checks one by one, each failing alone; and the rules of fold at their edges.
#include "swiftsync/terminal.h"

#include "consensus/subsidy.h"
#include "primitives/transaction.h"
#include "support/testdata.h"
#include "swiftsync/fold.h"
#include "swiftsync/spend_order.h"
#include "test_chain.h"

#include <algorithm>

using namespace ibd;
using namespace ibd::test;
using Catch::Contains;

namespace {

struct Judged {
    ConsensusParams params = MakeChainParams(Network::kRegtest).consensus;
    Checkpoint state;
    HintsInfo hints;
    std::unique_ptr<Aggregate> sum;

    Judged()
    {
        state.terminal_height = 2;
        state.folded = HeightSet(2);
        state.folded.Insert(1);
        state.folded.Insert(2);
        state.totals = {100, 40, 60, 40, 50 * kCoin, 1};
        state.runs = {{0, 30, 0, {}}, {1, 10, 0, {}}};
        hints.outputs = 100;
        hints.unspent = 40;
        sum = MakeAggregate(AggregateKind::kSha256, {});
    }
    std::string Reason() const { return JudgeTotals(state, *sum, hints, params).value_or(""); }
};

Bytes BlockOf(const std::vector<MutableTransaction>& txs)
{
    Bytes raw(80);
    Writer writer(raw);
    writer.CompactSize(txs.size());
    for (const auto& tx : txs) writer.Raw(tx.Serialize());
    return raw;
}

/** A coinbase and one spend with given output scripts. */
Bytes TwoTxBlock(const std::vector<Bytes>& coinbase_scripts, const std::vector<Bytes>& scripts)
{
    MutableTransaction coinbase, spend;
    coinbase.inputs.emplace_back();
    spend.inputs.emplace_back();
    spend.inputs[0].prevout = {Txid(), 3};
    for (const Bytes& s : coinbase_scripts) coinbase.outputs.push_back({kCoin, s});
    for (const Bytes& s : scripts) spend.outputs.push_back({kCoin, s});
    return BlockOf({coinbase, spend});
}

} // namespace

TEST_CASE("Terminal checks: each gives its own reason")
{
    REQUIRE(Judged().Reason().empty());
    Judged j;
    j.hints.outputs = 101;
    REQUIRE_THAT(j.Reason(), Contains("counts 101 outputs") && Contains("sum to 100"));
    j = Judged();
    j.hints.unspent = 41;
    REQUIRE_THAT(j.Reason(), Contains("counts 41 unspent"));
    j = Judged();
    j.state.runs[0].records = 29;
    REQUIRE_THAT(j.Reason(), Contains("40 coins were found, but the runs hold 39"));
    j = Judged();
    j.state.totals.value = static_cast<uint64_t>(MaxSupply(2, j.params));
    REQUIRE(j.Reason().empty());
    ++j.state.totals.value;
    REQUIRE_THAT(j.Reason(), Contains("more than the 10000000000 ever mined"));
    j.state.totals.value = ~uint64_t{0};
    REQUIRE_THAT(j.Reason(), Contains("ever mined"));
    j = Judged();
    j.sum->AddCreated(Bytes(36).data(), 1);
    REQUIRE_THAT(j.Reason(), Contains("aggregate (sha256)") && Contains("not zero"));
}

TEST_CASE("Terminal checks: coinbase ids")
{
    Txid a, b;
    a.data()[0] = 1;
    b.data()[31] = 1;
    REQUIRE_FALSE(JudgeCoinbases({}));
    REQUIRE_FALSE(JudgeCoinbases({{1, a}, {2, b}}));
    REQUIRE_THAT(*JudgeCoinbases({{9, a}, {2, b}, {3, a}}), Contains("blocks 3 and 9"));

    const auto main = MakeChainParams(Network::kMain).consensus;
    const auto known = MakeUniqueCoinbases(main, 900'000, main.bip34_hash);
    REQUIRE(known.below == 227'931);
    REQUIRE(known.Contains(176'684));
    REQUIRE(known.Contains(490'897)); // whose coinbase could be that of 176,684 once more
    REQUIRE_FALSE(known.Contains(490'896));
    REQUIRE_FALSE(known.Contains(490'898));
    REQUIRE(MakeUniqueCoinbases(main, 100, std::nullopt).below == 101);
    REQUIRE(MakeUniqueCoinbases(main, 900'000, BlockHash()).below == 900'001);
    const auto regtest = MakeChainParams(Network::kRegtest).consensus;
    REQUIRE_FALSE(MakeUniqueCoinbases(regtest, 500, std::nullopt).Contains(1));
}

TEST_CASE("Fold rules: BIP30 exceptions hold only on the branch that has their blocks")
{
    const auto main = MakeChainParams(Network::kMain).consensus;
    const auto on_branch = [&](int height) {
        for (const auto& e : main.bip30_exceptions) {
            if (height == e.overwritten_height) return e.overwritten_hash;
            if (height == e.repeat_height) return e.repeat_hash;
        }
        return BlockHash();
    };
    const auto rules = MakeFoldRules(HintsCounting::kAll, main, 900'000, on_branch);
    REQUIRE(rules.IsOverwritten(91'722));
    REQUIRE(rules.IsOverwritten(91'812));
    REQUIRE_FALSE(rules.IsOverwritten(91'842));
    REQUIRE_FALSE(rules.IsOverwritten(91'880));
    const auto between = MakeFoldRules(HintsCounting::kAll, main, 91'850, on_branch);
    REQUIRE_FALSE(between.IsOverwritten(91'722)); // its repeat, 91,880, is above
    REQUIRE(between.IsOverwritten(91'812));
    const auto other =
        MakeFoldRules(HintsCounting::kAll, main, 900'000, [](int) { return BlockHash(); });
    REQUIRE(other.overwritten_heights.empty());
}

TEST_CASE("Fold: what is counted, created, spent and kept")
{
    const Bytes op_return = {0x6a, 1, 1}, ok = {0x51}, longest(10'000, 0x51),
                too_long(10'001, 0x51);
    const Bytes raw = TwoTxBlock({ok, op_return}, {too_long, longest, ok});
    BlockView view;
    REQUIRE(view.Parse(raw).Ok());
    BlockDelta delta;
    FoldRules rules{HintsCounting::kSpendable, {}};
    // Spendable: coinbase 0, spend 1, spend 2.
    REQUIRE(Fold(view, 5, {3, {0, 2}}, rules, delta).Ok());
    REQUIRE(delta.counted_outputs == 3);
    REQUIRE(delta.hinted_unspent == 2);
    REQUIRE(delta.created.size() == 1);
    REQUIRE(delta.spent.size() == 1);
    REQUIRE(delta.coin_value == 2 * kCoin);
    REQUIRE(delta.coins.size() == 2);
    REQUIRE(delta.coins[0].coinbase);
    REQUIRE(delta.coins[0].vout == 0);
    REQUIRE_FALSE(delta.coins[1].coinbase);
    REQUIRE(delta.coins[1].vout == 2);
    REQUIRE(std::memcmp(delta.created.data(), view.Txs()[1].txid.data(), 32) == 0);
    REQUIRE(ReadLE32(delta.created.data() + 32) == 1);
    REQUIRE(ReadLE32(delta.spent.data() + 32) == 3);
    REQUIRE(delta.inputs == 1);

    // The same, of a block that was summed before.
    BlockDelta coins;
    REQUIRE(FoldCoins(view.Txs(), 5, {3, {0, 2}}, rules, coins).Ok());
    REQUIRE(coins.created.size() + coins.spent.size() == 0);
    REQUIRE(coins.inputs == 1);
    REQUIRE(coins.counted_outputs == 3);
    REQUIRE(coins.hinted_unspent == 2);
    REQUIRE(coins.coin_value == 2 * kCoin);
    coins.SpendCoins();
    REQUIRE(coins.spent.size() == 2);
    REQUIRE(std::memcmp(coins.spent.data(), view.Txs()[0].txid.data(), 32) == 0);
    REQUIRE(ReadLE32(coins.spent.data() + 32) == 0);
    REQUIRE(std::memcmp(coins.spent.data() + 36, view.Txs()[1].txid.data(), 32) == 0);
    REQUIRE(ReadLE32(coins.spent.data() + 36 + 32) == 2);
    REQUIRE_FALSE(FoldCoins(view.Txs(), 5, {4, {0}}, rules, coins).Ok());
    REQUIRE_FALSE(FoldCoins(view.Txs(), 5, {3, {0, 3}}, rules, coins).Ok());

    REQUIRE_THAT(Fold(view, 5, {4, {0}}, rules, delta).Message(),
                 Contains("4 outputs for block 5") && Contains("has 3"));
    REQUIRE_FALSE(Fold(view, 5, {2, {0}}, rules, delta).Ok());
    REQUIRE_FALSE(Fold(view, 5, {3, {0, 3}}, rules, delta).Ok()); // past the last output

    rules.counting = HintsCounting::kAll;
    REQUIRE(Fold(view, 5, {5, {0, 3}}, rules, delta).Ok());
    REQUIRE(delta.coins[1].vout == 1);
    REQUIRE_THAT(Fold(view, 5, {5, {1}}, rules, delta).Message(), Contains("unspendable output"));
    REQUIRE_THAT(Fold(view, 5, {5, {2}}, rules, delta).Message(), Contains("unspendable output"));

    rules.overwritten_heights = {5};
    for (const std::vector<uint32_t>& unspent : {std::vector<uint32_t>{3}, {0, 3}, {0, 1, 3}}) {
        REQUIRE(Fold(view, 5, {5, unspent}, rules, delta).Ok()); // coinbase bits mean nothing
        REQUIRE(delta.coins.size() == 1);
        REQUIRE(delta.created.size() == 1);
        REQUIRE(delta.hinted_unspent == unspent.size());
    }
    rules.counting = HintsCounting::kSpendable; // numbers only the two of the spend
    REQUIRE(Fold(view, 5, {2, {1}}, rules, delta).Ok());
    REQUIRE(delta.coins[0].vout == 2);
}

namespace {

/** A coinbase and `n` transactions with `inputs` inputs each; all spend outputs that lie before the
 *  block. */
std::vector<MutableTransaction> Unrelated(size_t n, size_t inputs)
{
    std::vector<MutableTransaction> txs(n + 1);
    txs[0].inputs.emplace_back();
    for (size_t t = 1; t <= n; ++t) {
        for (size_t i = 0; i < inputs; ++i) {
            auto& input = txs[t].inputs.emplace_back();
            WriteLE64(input.prevout.txid.data(), TestRng()());
            input.prevout.vout = static_cast<uint32_t>(t);
        }
    }
    for (auto& tx : txs) tx.outputs.push_back({kCoin, {0x51}});
    return txs;
}

std::optional<SpendOrder::Violation> CheckOrder(const std::vector<MutableTransaction>& txs)
{
    const Bytes raw = BlockOf(txs);
    BlockView view;
    REQUIRE(view.Parse(raw).Ok());
    SpendOrder order(TestRng()());
    return order.Check(view.Txs());
}

} // namespace

TEST_CASE("Order within a block: an output is spent after it is made, or the block is refused")
{
    REQUIRE_FALSE(CheckOrder(Unrelated(0, 0)));
    REQUIRE_FALSE(CheckOrder(Unrelated(1, 3)));
    for (int round = 0; round < 200; ++round) {
        auto txs = Unrelated(2 + TestRng()() % 60, 1 + TestRng()() % 4);
        // Each may spend the one before it; ids follow from front to back.
        for (size_t t = 2; t < txs.size(); ++t) {
            if (TestRng()() % 2) txs[t].inputs.back().prevout.txid = txs[t - 1].Id();
        }
        REQUIRE_FALSE(CheckOrder(txs));
        // Put the last one before the first and let it be spent by that.
        const size_t maker = 1 + TestRng()() % (txs.size() - 1);
        auto wrong = Unrelated(txs.size() - 1, 2);
        const size_t spender = 1 + TestRng()() % maker;
        if (spender == maker) continue;
        wrong[spender].inputs[TestRng()() % 2].prevout = {wrong[maker].Id(), 0};
        const auto found = CheckOrder(wrong);
        REQUIRE(found);
        REQUIRE(found->spender == spender);
        REQUIRE(found->maker == maker);
    }
}

TEST_CASE("Order within a block: the naive check agrees on transactions in any order")
{
    for (int round = 0; round < 300; ++round) {
        auto txs = Unrelated(1 + TestRng()() % 30, 2);
        for (size_t t = 2; t < txs.size(); ++t) {
            if (TestRng()() % 3 == 0) {
                txs[t].inputs[0].prevout.txid = txs[1 + TestRng()() % (t - 1)].Id();
            }
        }
        std::shuffle(txs.begin() + 1, txs.end(), TestRng());
        bool wrong = false;
        for (size_t t = 1; t < txs.size(); ++t) {
            for (const auto& input : txs[t].inputs) {
                for (size_t m = t; m < txs.size(); ++m) {
                    wrong = wrong || txs[m].Id() == input.prevout.txid;
                }
            }
        }
        REQUIRE(CheckOrder(txs).has_value() == wrong);
    }
}
