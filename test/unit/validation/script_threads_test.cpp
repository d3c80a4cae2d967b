// ScriptThreads over a real block of 11,215 inputs: the verdict is the same for any number of
// threads.
#include "script/script.h"
#include "support/testdata.h"
#include "validation/script_threads.h"

#include "primitives/block.h"
#include "primitives/transaction.h"

#include "support/catch.h"
#include <algorithm>

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr ScriptFlags kFlags =
    kVerifyP2sh | kVerifyDerSig | kVerifyNullDummy | kVerifyCltv | kVerifyCsv | kVerifyWitness;

/** Transactions of the block and the coins that each spends. */
struct SpentBlock {
    Bytes raw;
    BlockView block;
    std::vector<std::vector<Coin>> coins; //!< of transactions 1, 2, ...
};

std::optional<SpentBlock> Load()
{
    const auto path = TestData("bcoin/block928848.raw.xz");
    const auto spent = TestData("bcoin/block928848-undo.raw.xz");
    if (!path || !spent) return std::nullopt;
    SpentBlock out;
    out.raw = ReadTestFile(*path);
    REQUIRE(out.block.Parse(out.raw));
    const Bytes undo = ReadTestFile(*spent);
    Reader reader(undo);
    for (const TxView& tx : out.block.Txs().subspan(1)) {
        std::vector<Coin>& coins = out.coins.emplace_back();
        for (size_t i = 0; i < tx.inputs.size(); ++i) {
            const Amount value = reader.I64();
            coins.push_back({value, ScriptBytes(reader.VarBytes()), 1, false});
        }
    }
    REQUIRE(reader.AtEnd());
    return out;
}

RuleResult RunAll(ScriptThreads& threads, std::span<const TxView* const> txs,
                  const std::vector<std::vector<Coin>>& coins)
{
    threads.Begin(kFlags);
    for (size_t i = 0; i < txs.size(); ++i) threads.Add(*txs[i], coins[i]);
    return threads.Finish();
}

} // namespace

TEST_CASE("scripts of a block on any number of threads")
{
    const auto loaded = Load();
    if (!loaded) return;
    std::vector<const TxView*> good;
    for (const TxView& tx : loaded->block.Txs().subspan(1)) good.push_back(&tx);
    // Few enough for many rounds.
    const size_t some = std::min<size_t>(good.size(), 60);
    const std::span<const TxView* const> first(good.data(), some);

    ScriptThreads alone(0), one(1), three(3);
    ScriptThreads batches(0, LanesMode::kOn), batches_of_three(3, LanesMode::kCheck);
    CHECK_FALSE(RunAll(three, good, loaded->coins));
    for (ScriptThreads* threads : {&batches, &batches_of_three}) {
        threads->Batch(true);
        CHECK_FALSE(RunAll(*threads, good, loaded->coins));
    }
    CHECK_FALSE(RunAll(alone, first, loaded->coins));
    for (int round = 0; round < 12; ++round) {
        std::vector<const TxView*> txs(first.begin(), first.end());
        std::vector<TransactionRef> changed;
        size_t earliest = some;
        for (size_t n = 1 + TestRng()() % 4; n > 0; --n) {
            const size_t at = TestRng()() % some;
            MutableTransaction tx = MutableTransaction::FromView(*first[at]);
            tx.lock_time ^= 1;
            changed.push_back(tx.Freeze());
            txs[at] = &changed.back()->View();
            earliest = std::min(earliest, at);
        }
        const RuleResult expected = RunAll(alone, txs, loaded->coins);
        REQUIRE(expected);
        CHECK(expected->reason.starts_with("block-script-verify-flag-failed ("));
        CHECK(expected->detail.starts_with("input 0 of " + txs[earliest]->txid.ToHex()));
        for (ScriptThreads* threads : {&one, &three, &batches, &batches_of_three}) {
            const RuleResult verdict = RunAll(*threads, txs, loaded->coins);
            REQUIRE(verdict);
            CHECK(verdict->reason == expected->reason);
            CHECK(verdict->detail == expected->detail);
        }
    }
    CHECK_FALSE(RunAll(three, first, loaded->coins));
}

TEST_CASE("signatures are verified in batches only where allowed and nothing is remembered")
{
    const auto loaded = Load();
    if (!loaded) return;
    std::vector<const TxView*> txs;
    for (const TxView& tx : loaded->block.Txs().subspan(1, 100)) txs.push_back(&tx);
    const auto in_batches = [&](ScriptThreads& threads) {
        threads.Begin(kFlags);
        for (size_t i = 0; i < txs.size(); ++i) threads.Add(*txs[i], loaded->coins[i]);
        CHECK_FALSE(threads.Finish());
        return threads.Work().proven > 0;
    };
    ScriptThreads threads(1, LanesMode::kOn), off(1, LanesMode::kOff);
    CHECK_FALSE(in_batches(threads));
    threads.Batch(true);
    CHECK(in_batches(threads));
    threads.Remember(true);
    CHECK_FALSE(in_batches(threads));
    threads.Remember(false);
    CHECK(in_batches(threads));
    threads.Batch(false);
    CHECK_FALSE(in_batches(threads));
    off.Batch(true);
    CHECK_FALSE(in_batches(off));
}

TEST_CASE(
    "verdicts are the same with caches, whatever they hold, and known transactions are not run")
{
    const auto loaded = Load();
    if (!loaded) return;
    VerificationCaches caches(1 << 20, {1});
    ScriptThreads plain(0), cached(2);
    cached.SetCaches(&caches);
    const size_t some = 60;
    std::vector<const TxView*> good;
    for (const TxView& tx : loaded->block.Txs().subspan(1, some)) good.push_back(&tx);
    auto coins = loaded->coins;
    coins.resize(some);
    std::vector<TransactionRef> changed;
    size_t bad_rounds = 0;
    for (int round = 0; round < 30; ++round) {
        cached.Remember(TestRng()() % 3 != 0);
        const ScriptFlags flags = TestRng()() % 2 ? kFlags : kFlags & ~kVerifyNullDummy;
        std::vector<const TxView*> txs = good;
        if (TestRng()() % 2 == 0) { // spoiled, or the spoiled ones of before once more
            const size_t at = TestRng()() % some;
            MutableTransaction tx = MutableTransaction::FromView(*good[at]);
            tx.lock_time ^= 1;
            changed.push_back(tx.Freeze());
            txs[at] = &changed.back()->View();
            ++bad_rounds;
        }
        const auto run = [&](ScriptThreads& threads) {
            threads.Begin(flags);
            for (size_t i = 0; i < txs.size(); ++i) threads.Add(*txs[i], coins[i]);
            return threads.Finish();
        };
        const RuleResult expected = run(plain), verdict = run(cached);
        REQUIRE(verdict.has_value() == expected.has_value());
        if (verdict) CHECK(verdict->detail == expected->detail);
    }
    CHECK(bad_rounds > 0);
    CHECK(caches.scripts.Entries().Hits() > 0);
    CHECK(caches.signatures.Entries().Hits() > 0);
}

TEST_CASE("a transaction is known under the same flags only, and let go when not to be remembered")
{
    const auto loaded = Load();
    if (!loaded) return;
    VerificationCaches caches(1 << 20, {2});
    ScriptThreads threads(0);
    threads.SetCaches(&caches);
    const TxView* first = &loaded->block.Txs()[1];
    const auto run = [&](ScriptFlags flags) {
        threads.Begin(flags);
        threads.Add(*first, loaded->coins[0]);
        CHECK_FALSE(threads.Finish());
        return caches.scripts.Entries().Hits();
    };
    CHECK(run(kFlags) == 0);
    CHECK(caches.scripts.Entries().Empty()); // far from the tip nothing is kept
    CHECK(caches.signatures.Entries().Empty());
    threads.Remember(true);
    CHECK(run(kFlags) == 0);
    CHECK(run(kFlags) == 1);
    CHECK(run(kFlags & ~kVerifyNullDummy) == 1);
    CHECK(run(kFlags & ~kVerifyNullDummy) == 2);
    threads.Remember(false);
    CHECK(run(kFlags) == 3);
    CHECK(run(kFlags) == 3);
}

// The expected transactions are only a hint for prefetching.
TEST_CASE("transactions other than the expected ones, or in another order, get the same verdict")
{
    const auto loaded = Load();
    if (!loaded) return;
    const auto block = loaded->block.Txs().subspan(1, 40);
    std::vector<TransactionRef> bad;
    for (const TxView& tx : block) {
        MutableTransaction other = MutableTransaction::FromView(tx);
        other.lock_time ^= 1;
        bad.push_back(other.Freeze());
    }
    uint64_t failed = 0, hits = 0;
    for (int round = 0; round < 60; ++round) {
        VerificationCaches expecting(1 << 20, {3}), plain(1 << 20, {3});
        ScriptThreads looks_ahead(0), looks_not(0);
        looks_ahead.SetCaches(&expecting);
        looks_not.SetCaches(&plain);
        // The added transactions: most of the block, sometimes in another order, sometimes with a
        // bad one.
        std::vector<size_t> order;
        for (size_t i = 0; i < block.size(); ++i) {
            if (round % 4 != 1 || TestRng()() % 4 != 0) order.push_back(i);
        }
        if (round % 4 == 2) std::shuffle(order.begin(), order.end(), TestRng());
        if (round % 4 == 3) order.insert(order.end(), order.begin(), order.end());
        const size_t bad_at = round % 2 == 0 ? SIZE_MAX : order[TestRng()() % order.size()];
        const auto run = [&](ScriptThreads& threads, bool expect) {
            threads.Begin(kFlags);
            if (expect) threads.Expect(block.subspan(TestRng()() % 3));
            for (const size_t i : order) {
                threads.Add(i == bad_at ? bad[i]->View() : block[i], loaded->coins[i]);
            }
            return threads.Finish();
        };
        for (const bool remember : {true, true, false, false}) {
            looks_ahead.Remember(remember);
            looks_not.Remember(remember);
            const RuleResult expected = run(looks_not, false), verdict = run(looks_ahead, true);
            REQUIRE(verdict.has_value() == (bad_at != SIZE_MAX));
            REQUIRE(verdict.has_value() == expected.has_value());
            if (verdict) CHECK(verdict->detail == expected->detail);
            CHECK(expecting.scripts.Entries().Hits() == plain.scripts.Entries().Hits());
            failed += verdict ? 1 : 0;
        }
        hits += expecting.scripts.Entries().Hits();
    }
    CHECK(failed > 0);
    CHECK(hits > 0);
}

TEST_CASE("reason and detail of a failed script are Core's")
{
    MutableTransaction tx;
    tx.inputs = {{{Txid::FromBytes(Bytes(32, 0x11).data()), 7}, {OP_1}, 0xffffffff, {}}};
    tx.outputs = {{1, {OP_1}}};
    const TransactionRef frozen = tx.Freeze();
    const std::vector<Coin> coins{{5, ScriptBytes(Bytes{OP_2, OP_EQUALVERIFY, OP_1}), 1, false}};
    for (const size_t threads : {0, 2}) {
        ScriptThreads checker(threads);
        checker.Begin(kFlags);
        checker.Add(frozen->View(), coins);
        const RuleResult verdict = checker.Finish();
        REQUIRE(verdict);
        CHECK(verdict->reason == "block-script-verify-flag-failed (Script failed an OP_EQUALVERIFY "
                                 "operation)");
        const std::string id = frozen->Id().ToHex();
        CHECK(verdict->detail ==
              "input 0 of " + id + " (wtxid " + id + "), spending " + std::string(64, '1') + ":7");
        checker.Begin(kFlags); // a block without transactions but the coinbase
        CHECK_FALSE(checker.Finish());
    }
}
