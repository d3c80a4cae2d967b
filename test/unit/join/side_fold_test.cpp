// SideFold: blocks that are read for another purpose, in any number and order, are folded as the
// sync would fold them. The sync itself folds the other blocks, and those not yet durable.
#include "undo_setup.h"

#include "swiftsync/accepted.h"
#include "swiftsync/side_fold.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** A sync after a first pass, and a side fold during another reading before it. */
struct SideSetup {
    explicit SideSetup(uint64_t seed, const TestChainOptions& shape = {})
        : undo(seed, shape), sync(undo.Setup())
    {
        sync.First() = NaiveFirstPass(sync.Chain(), AggregateKind::kSha256, RandomSalt());
        hints = Must(OpenHints(sync.CleanEnv(), sync.HintsPath()));
    }
    Result<std::unique_ptr<SideFold>> Begin(Env& env, const BoosterOptions& options,
                                            size_t memory = 1 << 14)
    {
        return SideFold::Begin(env, sync.Log(), sync.Chain().Params(), sync.Chain().Tip(),
                               sync.Blocks(), *hints, options, *sync.First(), memory);
    }
    void Take(SideFold& fold, size_t worker, uint32_t height)
    {
        PlainBlock block;
        REQUIRE(block.Parse(sync.Chain().Raw(height)));
        fold.Take(worker, *sync.Chain().Tip().Ancestor(static_cast<int>(height)), block);
    }
    /** Begin to end beside a rebuild of undo data that checks nothing. */
    Result<JoinVerdict> RebuildBeside(Env& env, UndoOptions options, const BoosterOptions& booster)
    {
        IBD_ASSIGN_OR_RETURN(const auto fold, Begin(env, booster));
        options.side_fold = fold.get();
        auto verdict = undo.Rebuild(env, std::move(options));
        fold->End();
        return verdict;
    }
    uint32_t FoldedCount()
    {
        const auto kept = Must(LoadCheckpoint(sync.CleanEnv(), sync.Booster()));
        return kept ? kept->folded.Count() : 0;
    }
    void RequireSync(const BoosterOptions& options)
    {
        RequireAccepted(sync.Sync(sync.CleanEnv(), options));
        sync.RequireRight();
    }

    UndoSetup undo;
    SyncSetup& sync;
    std::unique_ptr<Hints> hints;
};

BoosterOptions SmallEpochs(BoosterOptions options)
{
    options.checkpoint_bytes = 3'000;
    return options;
}

} // namespace

TEST_CASE("Side fold: any blocks in any order, and the sync goes on to the naive map's coins",
          "[keystone]")
{
    auto& rng = TestRng();
    for (int round = 0; round < 20; ++round) {
        const uint64_t seed = rng();
        SideSetup setup(seed);
        const auto threads = 1 + static_cast<unsigned>(rng() % 3);
        BoosterOptions options = setup.sync.Options(threads, size_t{1} << (12 + rng() % 8));
        if (rng() % 2) options = SmallEpochs(std::move(options));
        CAPTURE(seed, threads, options.memory_bytes);
        std::set<uint32_t> taken;
        auto fold = Must(setup.Begin(setup.sync.CleanEnv(), options, options.memory_bytes));
        REQUIRE(fold);
        for (uint64_t i = rng() % 150; i > 0; --i) {
            const auto height = 1 + static_cast<uint32_t>(rng() % setup.sync.Chain().Height());
            setup.Take(*fold, rng() % threads, height);
            taken.insert(height);
        }
        CHECK_FALSE(setup.sync.Sync(setup.sync.CleanEnv(), options).Ok()); // the folder is locked
        const bool ended = rng() % 4 != 0;
        if (ended) fold->End();
        fold.reset();
        if (ended) CHECK(setup.FoldedCount() == taken.size());
        CHECK(setup.FoldedCount() <= taken.size());
        setup.RequireSync(options);
    }
}

TEST_CASE("Side fold: a rebuild shows it the blocks that it reads, and the sync reads no other",
          "[keystone]")
{
    auto& rng = TestRng();
    for (int round = 0; round < 10; ++round) {
        const uint64_t seed = rng();
        SideSetup setup(seed);
        const auto threads = 1 + static_cast<unsigned>(rng() % 3);
        const BoosterOptions options = setup.sync.Options(threads);
        CAPTURE(seed, threads);
        RequireDone(setup.RebuildBeside(setup.sync.CleanEnv(), setup.undo.Options(threads, 1 << 16),
                                        options));
        setup.undo.RequireRight();
        const uint32_t folded = setup.FoldedCount();
        CHECK(folded > setup.sync.Chain().Height() / 2);
        SyncEngine engine(setup.sync.CleanEnv(), setup.sync.Log(), setup.sync.Chain().Params(),
                          setup.sync.Chain().Tip(), setup.sync.Blocks(), *setup.hints, options,
                          &*setup.sync.First());
        RequireAccepted(engine.Run());
        CHECK(engine.Progress().resumed_blocks == folded);
        setup.sync.RequireRight();
    }
}

TEST_CASE("Side fold keystone: a death, and a failure, at any operation, beside a rebuild",
          "[keystone]")
{
    TestChainOptions shape;
    shape.blocks = 22;
    shape.txs_per_block = 3;
    SideSetup setup(7, shape);
    const BoosterOptions booster = SmallEpochs(setup.sync.Options());
    UndoOptions options = setup.undo.Options(1, 1 << 16);
    options.join.checkpoint_bytes = 9'000;
    const auto reset = [&] {
        setup.undo.Reset();
        setup.sync.Reset();
    };
    FaultEnv counting(7);
    RequireDone(setup.RebuildBeside(counting, options, booster));
    uint32_t resumed = 0;
    const FaultSample sample = SampleOfFaults(counting.Operations(), 60);
    for (uint64_t point = sample.first; point < counting.Operations(); point += sample.step) {
        for (const bool dies : {true, false}) {
            CAPTURE(point, dies);
            reset();
            FaultEnv env(point);
            if (dies) {
                env.CrashAt(point);
            } else {
                env.SetScript([&](const FaultEnv::Operation& op) { return op.number == point; });
            }
            const auto outcome = setup.RebuildBeside(env, options, booster);
            if (!outcome) REQUIRE(outcome.GetError().kind == Error::Kind::kSystem);
            if (dies) env.LoseUnsynced();
            resumed = std::max(resumed, setup.FoldedCount());
            FaultEnv after(point + 1);
            RequireDone(setup.RebuildBeside(after, options, booster));
            setup.undo.RequireRight();
            setup.RequireSync(booster);
        }
    }
    CHECK(resumed > 10);
}

TEST_CASE("Side fold: a failed write fails no reader, and the sync does the rest")
{
    SideSetup setup(TestRng()());
    const BoosterOptions options = SmallEpochs(setup.sync.Options());
    FaultEnv full;
    full.SetScript([&](const FaultEnv::Operation& op) {
        return op.kind == "write" && op.path.filename().string().starts_with("run");
    });
    RequireDone(setup.RebuildBeside(full, setup.undo.Options(1, 1 << 16), options));
    setup.undo.RequireRight();
    CHECK(setup.FoldedCount() == 0);
    setup.RequireSync(options);
}

TEST_CASE("Side fold: there is none after a first pass of other rules or options")
{
    SideSetup setup(TestRng()());
    BoosterOptions options = setup.sync.Options();
    SECTION("rules") { setup.sync.First()->rules = Uint256(); }
    SECTION("aggregate") { options.aggregate = AggregateKind::kMuHash; }
    SECTION("full validation by the fold itself") { options.full_validation = true; }
    CHECK_FALSE(Must(setup.Begin(setup.sync.CleanEnv(), options)));
}
