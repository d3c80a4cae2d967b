// The progress that the engine reports while it works and at its end, at moments that operations on
// files fix, and not the clock.
#include "sync_setup.h"

#include <algorithm>

#include "support/kept_log.h"

using namespace ibd;
using namespace ibd::test;
using Catch::Contains;

TEST_CASE("Progress: the last lines tell all that was done, however short it was")
{
    SyncSetup setup(21, {.blocks = 25});
    const size_t coins = setup.Chain().Coins().size();
    for (int i = 0; i < 20; ++i) {
        for (const LoaderKind loader : {LoaderKind::kTable, LoaderKind::kBatch}) {
            KeptLog log;
            BoosterOptions options = setup.Options(3);
            options.loader = loader;
            options.min_range_bytes = 1 << 10;
            REQUIRE(Must(setup.Sync(setup.CleanEnv(), options, log)).kind == VerdictKind::kDone);
            REQUIRE_THAT(log.Line("Booster: loading:"),
                         Contains(fmt::format("loading: {} coins in ", coins)) &&
                             Contains(" memory"));
            REQUIRE_THAT(log.Line("Booster: folding:"), Contains("; 25 of 25 blocks, "));
            setup.Reset();
        }
    }
}

TEST_CASE("Progress: numbers grow from folding to the end")
{
    SyncSetup setup(22);
    const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
    const auto& chain = setup.Chain();
    FaultEnv env;
    BoosterOptions options = setup.Options(1, 1 << 12); // many runs
    SyncEngine engine(env, setup.Log(), chain.Params(), setup.Chain().Tip(), setup.Blocks(), *hints,
                      options);
    REQUIRE(engine.Progress().state == FoldState::kIdle);
    std::vector<FoldProgress> seen;
    env.SetScript([&](const FaultEnv::Operation& op) {
        if (op.kind == "sync" || op.kind == "rename") seen.push_back(engine.Progress());
        return false;
    });
    REQUIRE(Must(engine.Run()).kind == VerdictKind::kDone);
    seen.push_back(engine.Progress());
    for (const auto& [state, what] :
         {std::pair{FoldState::kFolding, "folding"}, std::pair{FoldState::kLoading, "loading"},
          std::pair{FoldState::kPublishing, "publishing"}}) {
        INFO(what);
        REQUIRE(std::any_of(seen.begin(), seen.end(),
                            [s = state](const FoldProgress& p) { return p.state == s; }));
    }
    REQUIRE(std::any_of(seen.begin(), seen.end(), [](const FoldProgress& p) {
        return p.state == FoldState::kFolding && p.bytes > 0 && p.disk_bytes > 0 &&
               p.bytes_per_second > 0;
    }));
    for (size_t i = 1; i < seen.size(); ++i) {
        REQUIRE(seen[i].state >= seen[i - 1].state);
        for (const auto member :
             {&FoldProgress::blocks, &FoldProgress::outputs, &FoldProgress::inputs,
              &FoldProgress::bytes, &FoldProgress::coins, &FoldProgress::coins_loaded}) {
            REQUIRE(seen[i].*member >= seen[i - 1].*member);
        }
    }
    const FoldProgress& last = seen.back();
    REQUIRE(last.verdict == "accepted");
    REQUIRE(last.blocks == chain.Height());
    REQUIRE(last.coins == chain.Coins().size());
    REQUIRE(last.coins_loaded == last.coins_expected);
    REQUIRE(last.disk_bytes == 0);
}
