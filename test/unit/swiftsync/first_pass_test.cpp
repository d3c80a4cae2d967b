// The engine after a first pass over the blocks: the same coins from a fraction of the work, and
// nothing is believed that the sum does not show.
#include "accepted.h"
#include "sync_setup.h"

#include "support/testdata.h"
#include "swiftsync/checkpoint.h"

using namespace ibd;
using namespace ibd::test;
using Catch::Contains;

namespace {

/** A setup whose first pass is done. */
struct FirstPassSetup : SyncSetup {
    explicit FirstPassSetup(uint64_t seed, const TestChainOptions& shape = {})
        : SyncSetup(seed, shape)
    {
        First() = NaiveFirstPass(Chain(), AggregateKind::kSha256, RandomSalt());
    }
};

/** A block that makes a coin, and where in it the last byte of that output's amount lies. */
struct CoinPlace {
    const HeaderNode* node;
    size_t offset;
};

CoinPlace FindCoin(SyncSetup& setup)
{
    for (uint32_t height = 1;; ++height) {
        const std::vector<TestOutput>& outputs = setup.Chain().Outputs(height);
        BlockView block;
        Must(block.Parse(setup.Chain().Raw(height)));
        for (size_t i = 0; i < outputs.size(); ++i) {
            if (!outputs[i].unspent || outputs[i].overwritten) continue;
            const uint8_t* script = block.Outputs()[i].script_pubkey.data();
            const auto at = static_cast<size_t>(script - block.Raw().data());
            // Before the script lie its length, one byte, and the amount, its highest byte last.
            return {setup.Chain().Tip().Ancestor(static_cast<int>(height)), at - 2 - 5};
        }
    }
}

} // namespace

TEST_CASE("First pass: any chain, threads, memory and aggregate give the naive map's coins",
          "[keystone]")
{
    auto& rng = TestRng();
    for (int round = 0; round < 15; ++round) {
        const uint64_t seed = rng();
        SyncSetup setup(seed, {.blocks = 25 + static_cast<uint32_t>(rng() % 100)});
        const auto kind = round % 4 ? AggregateKind::kSha256 : AggregateKind::kMuHash;
        setup.First() = NaiveFirstPass(setup.Chain(), kind, RandomSalt());
        const size_t changed = rng() % 4;
        for (size_t i = 0; i < changed; ++i) {
            setup.First()->checksums[1 + rng() % setup.Chain().Height()] ^= 1;
        }
        BoosterOptions options =
            setup.Options(1 + static_cast<unsigned>(rng() % 3), size_t{1} << (12 + rng() % 8));
        options.aggregate = kind;
        options.checkpoint_bytes = rng() % 2 ? 3'000 : uint64_t{1} << 40;
        CAPTURE(seed, changed, options.threads, options.memory_bytes);
        FaultEnv env(rng());
        RequireAccepted(setup.Sync(env, options));
        setup.RequireRight();
    }
}

TEST_CASE("First pass: a sum that is not of these blocks is refused")
{
    FirstPassSetup setup(TestRng()());
    const size_t byte = TestRng()() % 32;
    setup.First()->sum[byte] ^= static_cast<uint8_t>(1 << TestRng()() % 8);
    const Verdict verdict = Must(setup.Sync(setup.CleanEnv(), setup.Options()));
    CHECK(verdict.kind == VerdictKind::kHintsWrong);
    CHECK_THAT(verdict.reason, Contains("aggregate"));
    CHECK_FALSE(std::filesystem::exists(setup.Chainstate()));
}

TEST_CASE("First pass: wrong hints are refused as without it")
{
    FirstPassSetup setup(TestRng()());
    auto& rng = TestRng();
    for (int i = 0; i < 200; ++i) {
        // One coin less and another output more, so that the counts are right.
        std::vector<TestOutput*> turned;
        for (const bool unspent : {true, false}) {
            TestOutput* output = nullptr;
            while (!output || output->unspent != unspent || !output->spendable ||
                   output->overwritten) {
                auto& outputs = setup.Chain().Outputs(
                    1 + static_cast<uint32_t>(rng() % setup.Chain().Height()));
                output = &outputs[rng() % outputs.size()];
            }
            turned.push_back(output);
        }
        for (TestOutput* output : turned) output->unspent = !output->unspent;
        setup.Chain().WriteHints(setup.CleanEnv(), setup.HintsPath(), HintsCounting::kSpendable);
        const Verdict verdict = Must(setup.Sync(setup.CleanEnv(), setup.Options()));
        REQUIRE(verdict.kind == VerdictKind::kHintsWrong);
        for (TestOutput* output : turned) output->unspent = !output->unspent;
    }
    CHECK_FALSE(std::filesystem::exists(setup.Chainstate()));
}

TEST_CASE("First pass: a block that has rotted since is an error that names it")
{
    FirstPassSetup setup(TestRng()());
    const CoinPlace coin = FindCoin(setup);
    ChangeStored(setup, *coin.node, coin.offset, 1);
    const auto refused = setup.Sync(setup.CleanEnv(), setup.Options());
    REQUIRE_FALSE(refused.Ok());
    CHECK(refused.GetError().kind == Error::Kind::kBadData);
    CHECK_THAT(refused.Message(), Contains(coin.node->hash.ToHex()));
    CHECK_FALSE(std::filesystem::exists(setup.Chainstate()));
    ChangeStored(setup, *coin.node, coin.offset, 1);
    RequireAccepted(setup.Sync(setup.CleanEnv(), setup.Options()));
    setup.RequireRight();
}

TEST_CASE("First pass: a block that is damaged on its way from the disk is read again")
{
    RequireReadAgain<FirstPassSetup>();
}

TEST_CASE("First pass: even a block forged with its checksum gives no wrong coin")
{
    FirstPassSetup setup(TestRng()());
    const CoinPlace coin = FindCoin(setup);
    const auto height = static_cast<uint32_t>(coin.node->height);
    const ByteSpan raw = setup.Chain().Raw(height);
    Bytes forged(raw.begin(), raw.end());
    forged[coin.offset] ^= 1;
    ChangeStored(setup, *coin.node, coin.offset, 1);
    setup.First()->checksums[height] = Crc32c(forged);
    const Verdict verdict = Must(setup.Sync(setup.CleanEnv(), setup.Options()));
    CHECK(verdict.kind == VerdictKind::kHintsWrong);
    CHECK_THAT(verdict.reason, Contains("aggregate"));
    CHECK_FALSE(std::filesystem::exists(setup.Chainstate()));
}

TEST_CASE("First pass: one of other rules, options or blocks is left alone")
{
    FirstPassSetup setup(TestRng()());
    BoosterOptions options = setup.Options();
    FirstPass& first = *setup.First();
    SECTION("rules") { first.rules = Uint256(); }
    SECTION("another terminal block") { first.terminal_hash = BlockHash(); }
    SECTION("aggregate") { options.aggregate = AggregateKind::kMuHash; }
    SECTION("a sum of another size") { first.sum.push_back(0); }
    SECTION("too few checksums") { first.checksums.pop_back(); }
    first.checksums[0] = 0;
    RequireAccepted(setup.Sync(setup.CleanEnv(), options));
    setup.RequireRight();
}

TEST_CASE("First pass: work is gone on with only after the same one")
{
    FirstPassSetup setup(TestRng()());
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.checkpoint_bytes = 3'000;
    FaultEnv whole;
    RequireAccepted(setup.Sync(whole, options));
    setup.Reset();
    const std::optional<FirstPass> first = setup.First();
    const bool before = GENERATE(true, false);
    if (!before) setup.First().reset();
    FaultEnv dying;
    dying.CrashAt(whole.Operations() * 6 / 10);
    REQUIRE_FALSE(setup.Sync(dying, options).Ok());
    const auto kept = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
    REQUIRE(kept);
    CHECK(kept->coins_only == before);
    REQUIRE(kept->folded.Count() > 10);
    uint32_t expected = 0;
    SECTION("the same") { expected = kept->folded.Count(); }
    SECTION("none, or one")
    {
        if (before) {
            setup.First().reset();
        } else {
            setup.First() = first;
        }
    }
    SECTION("one with another salt")
    {
        setup.First() = NaiveFirstPass(setup.Chain(), AggregateKind::kSha256, RandomSalt());
    }
    const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
    SyncEngine engine(setup.CleanEnv(), setup.Log(), setup.Chain().Params(), setup.Chain().Tip(),
                      setup.Blocks(), *hints, options, setup.First() ? &*setup.First() : nullptr);
    RequireAccepted(engine.Run());
    CHECK(engine.Progress().resumed_blocks == expected);
    setup.RequireRight();
}
