// Blocks from anywhere: a supply whose blocks arrive late, in any order, and bad before they are
// good, leads to the same coins; blocks that a checkpoint lists as folded were made durable by
// their source.
#include "accepted.h"
#include "sync_setup.h"

#include "support/testdata.h"
#include "swiftsync/checkpoint.h"
#include "swiftsync/file_block_source.h"

using namespace ibd;
using namespace ibd::test;

TEST_CASE("Supply: blocks that arrive late, disordered and sometimes bad give the same coins")
{
    for (int round = 0; round < 6; ++round) {
        const uint64_t seed = TestRng()();
        CAPTURE(seed);
        SyncSetup setup(seed);
        for (const unsigned threads : {1u, 2u, 3u}) {
            BoosterOptions options = setup.Options(threads, 1 << 13);
            options.checkpoint_bytes = 3'000;
            FaultEnv env(seed);
            sim::LyingSupply strangers = setup.Strangers({.seed = seed + threads});
            RequireAccepted(setup.SyncFrom(env, strangers, options));
            setup.RequireRight();
            CHECK(strangers.Rejected() > 0);
            CHECK(strangers.Mistakes() == 0);
            CHECK(strangers.Kept().size() == setup.Chain().Height());
            CHECK(strangers.Synced() == strangers.Kept());
            setup.Reset();
        }
    }
}

TEST_CASE("Supply: a checkpoint says folded only of blocks that the source made durable")
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    SyncSetup setup(seed);
    BoosterOptions options = setup.Options(2, 1 << 13);
    options.checkpoint_bytes = 2'000;
    uint64_t folded = 0;
    for (uint64_t death = 5; death < 300; death += 7) {
        FaultEnv env(death);
        env.CrashAt(death);
        sim::LyingSupply strangers = setup.Strangers({.seed = death});
        const auto verdict = setup.SyncFrom(env, strangers, options);
        if (verdict) break;
        env.LoseUnsynced();
        const auto kept = LoadCheckpoint(setup.CleanEnv(), setup.Booster());
        REQUIRE(kept);
        if (*kept) {
            for (uint32_t h = 1; h <= setup.Chain().Height(); ++h) {
                if ((*kept)->folded.Contains(h)) REQUIRE(strangers.Synced().contains(h));
            }
            folded += (*kept)->folded.Count();
        }
        setup.Reset();
    }
    REQUIRE(folded > 0);
}

TEST_CASE("Supply: one that ends early leaves what was folded; only the rest is asked for then")
{
    SyncSetup setup(TestRng()());
    const BoosterOptions options = setup.Options(2, 1 << 13);
    FaultEnv env(1);
    sim::LyingSupply few = setup.Strangers({.seed = 1, .most = 20});
    const auto part = setup.SyncFrom(env, few, options);
    REQUIRE(part);
    CHECK(part->kind == VerdictKind::kIncomplete);
    sim::LyingSupply rest = setup.Strangers({.seed = 2});
    RequireAccepted(setup.SyncFrom(env, rest, options));
    CHECK(rest.BlocksToFold() == setup.Chain().Height() - 20);
    setup.RequireRight();
}

TEST_CASE("Supply: one that cannot ask again ends the run at a bad block")
{
    SyncSetup setup(TestRng()());
    FaultEnv env(1);
    sim::LyingSupply strangers = setup.Strangers({.seed = 1, .asks_again = false});
    const auto verdict = setup.SyncFrom(env, strangers, setup.Options(2, 1 << 13));
    REQUIRE(verdict);
    CHECK(verdict->kind == VerdictKind::kBlockInvalid);
}

TEST_CASE("Supply: with fold_only all is folded and a later run judges")
{
    SyncSetup setup(TestRng()());
    BoosterOptions options = setup.Options(2, 1 << 13);
    options.fold_only = true;
    FaultEnv env(1);
    const auto folded = setup.Sync(env, options);
    REQUIRE(folded);
    CHECK(folded->kind == VerdictKind::kFolded);
    CHECK_FALSE(std::filesystem::exists(setup.Chainstate()));
    options.fold_only = false;
    sim::LyingSupply none = setup.Strangers({.seed = 1});
    RequireAccepted(setup.SyncFrom(env, none, options));
    CHECK(none.BlocksToFold() == 0);
    setup.RequireRight();
}

TEST_CASE("Supply: by height each block is read ahead before it is read, and hardly more")
{
    SyncSetup setup(TestRng()());
    FaultEnv env;
    std::map<Path, std::map<uint64_t, uint64_t>> advised; // begin and end
    uint64_t bytes = 0, read = 0, ahead = 0;
    env.WatchAdvice([&](const Path& path, uint64_t offset, uint64_t size) {
        advised[path][offset] = offset + size;
        bytes += size;
        ahead = std::max(ahead, bytes - std::min(bytes, read));
    });
    constexpr uint64_t kWindow = 4'000;
    FileBlockSupply supply(env, setup.Blocks(), setup.Chain().Tip(), PlanOrder::OfChain(kWindow));
    Must(supply.Begin([](int32_t height) { return height % 7 == 3; })); // holes
    const auto source = supply.MakeSource();
    SuppliedBlock block;
    size_t blocks = 0, largest = 0;
    while (Must(source->Next(block))) {
        const auto& ranges = advised[setup.Blocks().BlockPath(block.node->file)];
        const bool told = std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
            return range.first <= block.node->data_pos && block.node->data_pos < range.second;
        });
        CHECK(told);
        read += block.bytes.size();
        largest = std::max(largest, block.bytes.size());
        ++blocks;
    }
    CHECK(blocks == supply.BlocksToFold());
    // Where a block is followed by a hole, as much is estimated.
    CHECK(ahead < 2 * (kWindow + largest));
}

TEST_CASE("Supply: blocks of cold files give the same coins, also when a direct read fails")
{
    SyncSetup setup(TestRng()());
    for (const int failing : {-1, 0, 1}) {
        FaultEnv env(1);
        env.MakeCold([](uint64_t) { return true; });
        std::atomic<int> reads = 0;
        env.SetScript([&](const FaultEnv::Operation& operation) {
            return operation.kind == "read uncached" && reads++ == failing;
        });
        RequireAccepted(setup.Sync(env, setup.Options(2, 1 << 13)));
        setup.RequireRight();
        CHECK(reads > failing);
        setup.Reset();
    }
}
