// Resuming: states from which a run may and may not resume, and work that remains after its end.
#include "accepted.h"
#include "sync_setup.h"

#include "support/testdata.h"
#include "swiftsync/checkpoint.h"

using namespace ibd;
using namespace ibd::test;

TEST_CASE("A run is resumed where it was interrupted, and not with other hints or options")
{
    SyncSetup setup(10);
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.checkpoint_bytes = 3'000;
    FaultEnv whole;
    uint64_t reads = 0;
    const auto count_reads = [&](const FaultEnv::Operation& op) {
        reads += op.kind == "read" && op.path.filename().string().starts_with("blk");
        return false;
    };
    whole.SetScript(count_reads);
    Must(setup.Sync(whole, options));
    const uint64_t all_reads = reads;
    setup.Reset();

    FaultEnv dying;
    dying.CrashAt(whole.Operations() * 6 / 10);
    REQUIRE_FALSE(setup.Sync(dying, options).Ok());
    const auto kept = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
    REQUIRE(kept);
    REQUIRE(kept->folded.Count() > 10);

    FaultEnv resumed;
    resumed.SetScript(count_reads);
    reads = 0;
    SECTION("same run: only what is missing is read")
    {
        REQUIRE(Must(setup.Sync(resumed, options)).kind == VerdictKind::kDone);
        REQUIRE(reads < all_reads * 3 / 4);
    }
    SECTION("another aggregate: from the start")
    {
        options.aggregate = AggregateKind::kMuHash;
        REQUIRE(Must(setup.Sync(resumed, options)).kind == VerdictKind::kDone);
        REQUIRE(reads >= all_reads * 9 / 10);
    }
    SECTION("another hints file: from the start")
    {
        setup.Chain().WriteHints(setup.CleanEnv(), setup.HintsPath(), HintsCounting::kAll);
        REQUIRE(Must(setup.Sync(resumed, options)).kind == VerdictKind::kDone);
        REQUIRE(reads >= all_reads * 9 / 10);
    }
    SECTION("a damaged checkpoint: from the start")
    {
        const Path path = CheckpointPath(setup.Booster());
        Bytes bytes = Must(ReadWholeFile(setup.CleanEnv(), path));
        bytes[60] ^= 1;
        Overwrite(path, bytes);
        REQUIRE(Must(setup.Sync(resumed, options)).kind == VerdictKind::kDone);
        REQUIRE(reads >= all_reads * 9 / 10);
    }
    SECTION("a run file is gone: from the start")
    {
        std::filesystem::remove(RunPath(setup.Booster(), kept->runs.front().number));
        REQUIRE(Must(setup.Sync(resumed, options)).kind == VerdictKind::kDone);
        REQUIRE(reads >= all_reads * 9 / 10);
    }
    setup.RequireRight();
}

namespace {

/** A sync on a machine that fails permanently after this many commits. */
void DieAfterCommits(SyncSetup& setup, const BoosterOptions& options, int most)
{
    FaultEnv dying;
    int commits = 0;
    dying.SetScript([&](const FaultEnv::Operation& op) {
        commits += op.kind == "write" && op.path.filename() == "checkpoint.log";
        return commits > most;
    });
    REQUIRE_FALSE(setup.Sync(dying, options).Ok());
}

} // namespace

TEST_CASE("A run is not gone on from under other rules")
{
    SyncSetup setup(10);
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.checkpoint_bytes = 2'000;
    DieAfterCommits(setup, options, 8);
    const auto kept = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
    REQUIRE(kept->folded.Count() > 3);
    const auto resumed_under = [&](const std::function<void(ConsensusParams&)>& change) {
        const ConsensusParams before = setup.Chain().Params().consensus;
        change(setup.Chain().Params().consensus);
        const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
        SyncEngine engine(setup.CleanEnv(), setup.Log(), setup.Chain().Params(),
                          setup.Chain().Tip(), setup.Blocks(), *hints, options);
        RequireAccepted(engine.Run());
        setup.RequireRight();
        std::filesystem::remove_all(setup.Chainstate());
        setup.Chain().Params().consensus = before;
        return engine.Progress().resumed_blocks;
    };
    std::map<Path, Bytes> runs;
    for (const RunInfo& run : kept->runs) {
        const Path path = RunPath(setup.Booster(), run.number);
        runs[path] = Must(ReadWholeFile(setup.CleanEnv(), path));
    }
    const auto put_back = [&] {
        Must(SaveCheckpoint(setup.CleanEnv(), setup.Booster(), *kept));
        for (const auto& [path, bytes] : runs) Overwrite(path, bytes);
    };
    REQUIRE(resumed_under([](ConsensusParams&) {}) == kept->folded.Count());
    put_back();
    // All ids must differ, also those of blocks that were folded when it was not asked for.
    REQUIRE(resumed_under([](ConsensusParams& c) { c.bip34_height = 50; }) == 0);
    put_back();
    REQUIRE(resumed_under([](ConsensusParams& c) { c.segwit_height = 77; }) == 0);
    put_back();
    REQUIRE(resumed_under([](ConsensusParams& c) { c.subsidy_halving_interval = 1000; }) == 0);
    put_back();
    REQUIRE(resumed_under([](ConsensusParams&) {}) == kept->folded.Count());
}

TEST_CASE("An error of the system while resuming is an error, and the work stays")
{
    SyncSetup setup(10);
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.checkpoint_bytes = 3'000;
    DieAfterCommits(setup, options, 8);
    const auto kept = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
    REQUIRE(kept->runs.size() > 2);
    REQUIRE(kept->folded.Count() < setup.Chain().Height());
    const auto looks_at_work = [&](const FaultEnv::Operation& op) {
        const std::string name = op.path.filename();
        return (op.kind == "look" || op.kind == "open" || op.kind == "read") &&
               (name.starts_with("checkpoint.") || name.starts_with("run"));
    };
    uint64_t faults = 0;
    for (;; ++faults) {
        uint64_t number = 0;
        bool failed = false;
        FaultEnv env;
        env.SetScript([&](const FaultEnv::Operation& op) {
            if (op.path.filename().string().starts_with("blk")) return true; // resumed: enough
            const bool fail = looks_at_work(op) && number++ == faults;
            failed = failed || fail;
            return fail;
        });
        CAPTURE(faults);
        const auto verdict = setup.Sync(env, options);
        REQUIRE_FALSE(verdict.Ok());
        REQUIRE(verdict.GetError().kind == Error::Kind::kSystem);
        const auto now = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
        REQUIRE(now);
        REQUIRE(now->folded.Count() == kept->folded.Count());
        if (!failed) break;
    }
    REQUIRE(faults > 3 * kept->runs.size());
    const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
    SyncEngine engine(setup.CleanEnv(), setup.Log(), setup.Chain().Params(), setup.Chain().Tip(),
                      setup.Blocks(), *hints, options);
    RequireAccepted(engine.Run());
    REQUIRE(engine.Progress().resumed_blocks == kept->folded.Count());
    setup.RequireRight();
}

TEST_CASE("Killed while it cleans up behind its chainstate, a run only cleans up when repeated")
{
    SyncSetup setup(18, {.blocks = 40, .txs_per_block = 3});
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.checkpoint_bytes = 3'000;
    FaultEnv whole;
    uint64_t published = 0;
    whole.SetScript([&](const FaultEnv::Operation& op) {
        if (op.kind == "rename" && op.path.filename() == "checkpoint.dat.new") {
            published = op.number + 1;
        }
        return false;
    });
    Must(setup.Sync(whole, options));
    setup.Reset();
    REQUIRE(published + 4 < whole.Operations());
    for (uint64_t point = published; point < whole.Operations(); ++point) {
        CAPTURE(point, published, whole.Operations());
        FaultEnv dying;
        dying.CrashAt(point);
        REQUIRE_FALSE(setup.Sync(dying, options).Ok());
        uint64_t blocks_read = 0;
        FaultEnv again;
        again.SetScript([&](const FaultEnv::Operation& op) {
            blocks_read += op.path.filename().string().starts_with("blk");
            return false;
        });
        // Without its last step there may be no checkpoint left, and then a repeat is a new run.
        const bool left = std::filesystem::exists(CheckpointPath(setup.Booster()));
        const auto verdict = setup.Sync(again, options);
        RequireAccepted(verdict);
        REQUIRE(verdict->coins == setup.Chain().Coins().size());
        REQUIRE((blocks_read == 0) == left);
        setup.RequireRight();
        setup.Reset();
    }
}

TEST_CASE("Hints that failed before are refused, and leave the work of the others")
{
    SyncSetup setup(10);
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.checkpoint_bytes = 3'000;
    FaultEnv dying;
    dying.SetScript([](const FaultEnv::Operation& op) {
        return op.kind == "create" && op.path == RunPath(op.path.parent_path(), 4);
    });
    REQUIRE_FALSE(setup.Sync(dying, options).Ok());
    const auto kept = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
    REQUIRE(kept);
    REQUIRE(kept->folded.Count() > 0);

    const Bytes right = Must(ReadWholeFile(setup.CleanEnv(), setup.HintsPath()));
    setup.Chain().WriteHints(setup.CleanEnv(), setup.HintsPath(), HintsCounting::kAll);
    const Uint256 bad = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()))->Info().id;
    Must(
        RememberBadHints(setup.CleanEnv(), setup.Booster(), bad, setup.Chain().Tip().hash, "once"));
    REQUIRE(Must(setup.Sync(setup.CleanEnv(), options)).kind == VerdictKind::kHintsWrong);
    const auto still = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
    REQUIRE(still);
    REQUIRE(still->Encode() == kept->Encode());
    Overwrite(setup.HintsPath(), right);
    RequireAccepted(setup.Sync(setup.CleanEnv(), options));
    setup.RequireRight();
}

TEST_CASE("What was published is built anew when the chainstate is another by now")
{
    SyncSetup setup(19, {.blocks = 40, .txs_per_block = 3});
    BoosterOptions options = setup.Options(1, 1 << 13);
    FaultEnv dying;
    bool marked = false;
    dying.SetScript([&](const FaultEnv::Operation& op) {
        marked = marked || (op.kind == "remove" && op.path.filename() == "run000000.dat");
        return marked;
    });
    REQUIRE_FALSE(setup.Sync(dying, options).Ok());
    REQUIRE(Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()))->published);
    std::filesystem::remove_all(setup.Chainstate());
    RequireAccepted(setup.Sync(setup.CleanEnv(), options));
    setup.RequireRight();
}

TEST_CASE("A bitmap that failed on one branch is tried again on another")
{
    SyncSetup setup(21, {}, HintsCounting::kAll);
    const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
    Must(setup.CleanEnv().CreateDirectories(setup.Booster()));
    const HeaderNode& other = *setup.Chain().Tip().prev;
    Must(RememberBadHints(setup.CleanEnv(), setup.Booster(), hints->Info().id, other.hash, "once"));
    RequireAccepted(setup.Sync(setup.CleanEnv(), setup.Options()));
    setup.RequireRight();
}

TEST_CASE("An interrupted run says so and keeps its work")
{
    SyncSetup setup(11);
    const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
    FaultEnv env;
    SyncEngine engine(env, setup.Log(), setup.Chain().Params(), setup.Chain().Tip(), setup.Blocks(),
                      *hints, setup.Options());
    uint64_t reads = 0;
    env.SetScript([&](const FaultEnv::Operation& op) {
        reads += op.kind == "read";
        if (reads == 40) engine.Interrupt();
        return false;
    });
    REQUIRE(engine.Progress().state == FoldState::kIdle);
    REQUIRE(Must(engine.Run()).kind == VerdictKind::kInterrupted);
    const auto kept = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
    REQUIRE(kept);
    REQUIRE(kept->folded.Count() > 0);
    REQUIRE(kept->folded.Count() == engine.Progress().blocks);
    FaultEnv again;
    REQUIRE(Must(setup.Sync(again, setup.Options())).kind == VerdictKind::kDone);
    setup.RequireRight();
}
