// The main property of the booster: for any seed, block order and supply, threads, memory,
// aggregate, loader and moment of a kill, the finished coins equal those of a naive map, key for
// key.
#include "accepted.h"
#include "sync_setup.h"

#include "support/testdata.h"

#include <functional>

using namespace ibd;
using namespace ibd::test;

TEST_CASE("Keystone: one run gives the naive map's coins", "[keystone]")
{
    for (int round = 0; round < 12; ++round) {
        auto& rng = TestRng();
        const uint64_t seed = rng();
        TestChainOptions shape;
        shape.blocks = 25 + static_cast<uint32_t>(rng() % 120);
        shape.txs_per_block = 1 + static_cast<uint32_t>(rng() % 20);
        const auto counting = rng() % 2 ? HintsCounting::kAll : HintsCounting::kSpendable;
        SyncSetup setup(seed, shape, counting);
        for (const size_t memory : {size_t{1} << 13, size_t{1} << 20}) {
            for (const unsigned threads : {1u, 2u, 3u}) {
                BoosterOptions options = setup.Options(threads, memory);
                options.aggregate = rng() % 3 ? AggregateKind::kSha256 : AggregateKind::kMuHash;
                options.loader = rng() % 2 ? LoaderKind::kTable : LoaderKind::kBatch;
                options.checkpoint_bytes = rng() % 2 ? 3'000 : uint64_t{1} << 40;
                options.min_range_bytes = rng() % 2 ? 500 : uint64_t{1} << 30;
                options.min_merged_runs = 2 + rng() % 20;
                CAPTURE(seed, shape.blocks, memory, threads, options.checkpoint_bytes,
                        options.min_merged_runs, int(options.aggregate), int(options.loader),
                        int(counting));
                FaultEnv env(rng());
                const auto verdict = setup.Sync(env, options);
                RequireAccepted(verdict);
                REQUIRE(verdict->coins == setup.Chain().Coins().size());
                REQUIRE(verdict->height == static_cast<int>(shape.blocks));
                setup.RequireRight();
                setup.Reset();
            }
        }
    }
}

namespace {

using SyncOnce = std::function<Result<Verdict>(Env& env, const BoosterOptions& options)>;

/** Kills syncs at random operations, again and again, and requires the right coins at the end of
 *  each `round`. */
void KillAndResume(SyncSetup& setup, BoosterOptions options, int rounds, const SyncOnce& sync)
{
    auto& rng = TestRng();
    FaultEnv counting(rng());
    RequireAccepted(sync(counting, options));
    setup.RequireRight();
    setup.Reset();
    const uint64_t operations = counting.Operations();
    REQUIRE(operations > 100);
    int crashed = 0;
    for (int round = 0; round < rounds; ++round) {
        options.threads = 1 + static_cast<unsigned>(rng() % 2);
        options.background = options.threads > 1;
        CAPTURE(round, int(options.loader), options.threads);
        for (int death = 0; death < 8; ++death) {
            FaultEnv env(rng());
            env.CrashAt(rng() % (operations + 10));
            CAPTURE(death);
            const auto verdict = sync(env, options);
            if (verdict) break; // finished before its time came
            ++crashed;
            env.LoseUnsynced();
        }
        if (std::filesystem::exists(setup.Booster() / "checkpoint.dat") ||
            !std::filesystem::exists(setup.Chainstate())) {
            FaultEnv env(rng());
            RequireAccepted(sync(env, options));
        }
        setup.RequireRight();
        setup.Reset();
    }
    REQUIRE(crashed > rounds);
}

} // namespace

TEST_CASE("Keystone: killed at any operation and resumed, once or many times", "[keystone]")
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    SyncSetup setup(seed);
    for (const auto loader : {LoaderKind::kBatch, LoaderKind::kTable}) {
        BoosterOptions options = setup.Options(1, 1 << 13);
        options.loader = loader;
        options.checkpoint_bytes = 2'000;
        options.min_range_bytes = 1'000;
        options.min_merged_runs = loader == LoaderKind::kTable ? 3 : 128;
        KillAndResume(setup, options, 60,
                      [&](Env& env, const BoosterOptions& o) { return setup.Sync(env, o); });
    }
}

TEST_CASE("Keystone: killed and resumed after a first pass over the blocks", "[keystone]")
{
    auto& rng = TestRng();
    const uint64_t seed = rng();
    CAPTURE(seed);
    SyncSetup setup(seed);
    AggregateSalt salt;
    for (uint8_t& byte : salt) byte = static_cast<uint8_t>(rng());
    for (const auto kind : {AggregateKind::kSha256, AggregateKind::kMuHash}) {
        setup.First() = NaiveFirstPass(setup.Chain(), kind, salt);
        // A changed block is checked against the rules.
        setup.First()->checksums[1 + rng() % setup.Chain().Height()] ^= 1;
        BoosterOptions options = setup.Options(1, 1 << 13);
        options.aggregate = kind;
        options.checkpoint_bytes = 2'000;
        KillAndResume(setup, options, 30,
                      [&](Env& env, const BoosterOptions& o) { return setup.Sync(env, o); });
    }
}

TEST_CASE("Keystone: killed and resumed while strangers bring the blocks", "[keystone]")
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    SyncSetup setup(seed);
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.checkpoint_bytes = 2'000;
    size_t rejected = 0;
    KillAndResume(setup, options, 60, [&](Env& env, const BoosterOptions& o) {
        sim::LyingSupply strangers = setup.Strangers({.seed = TestRng()()});
        auto verdict = setup.SyncFrom(env, strangers, o);
        CHECK(strangers.Mistakes() == 0);
        rejected += strangers.Rejected();
        return verdict;
    });
    REQUIRE(rejected > 1'000);
}

TEST_CASE("Keystone: every single crash point of a small run", "[keystone]")
{
    TestChainOptions shape;
    shape.blocks = 22;
    shape.txs_per_block = 3;
    SyncSetup setup(7, shape);
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.loader = LoaderKind::kTable;
    options.checkpoint_bytes = 3'000;
    options.min_merged_runs = 4;
    FaultEnv counting(7);
    RequireAccepted(setup.Sync(counting, options));
    setup.Reset();
    for (uint64_t point = 0; point < counting.Operations(); ++point) {
        FaultEnv env(point);
        env.CrashAt(point);
        CAPTURE(point);
        REQUIRE_FALSE(setup.Sync(env, options).Ok());
        env.LoseUnsynced();
        FaultEnv after(point + 1);
        if (std::filesystem::exists(setup.Booster() / "checkpoint.dat") ||
            !std::filesystem::exists(setup.Chainstate())) {
            RequireAccepted(setup.Sync(after, options));
        }
        setup.RequireRight();
        setup.Reset();
    }
}
