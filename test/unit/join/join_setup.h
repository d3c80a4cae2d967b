// Shared code of tests of the join and its users: options, remaining files, and faults.
#pragma once

#include "join/spend_join.h"
#include "sim/fault_env.h"
#include "support/fault_sample.h"
#include "support/testdata.h"
#include "swiftsync/file_block_source.h"
#include "swiftsync/sync_setup.h"

namespace ibd::test {

inline JoinOptions MakeJoinOptions(const Path& directory, unsigned threads, size_t memory)
{
    JoinOptions options;
    options.threads = threads;
    options.memory_bytes = memory;
    options.least_thread_bytes = 4 << 10; // small chains are split, too
    options.directory = directory;
    options.background = threads > 1;
    options.values = TestRng().Below(2) == 0; // what else they find is the same
    return options;
}

/** Short stretches, or small windows: the result of a join is the same. */
inline PlanOrder AnyOrder()
{
    constexpr uint64_t kBytes = 1'000;
    return TestRng().Below(2) == 0 ? PlanOrder::OfFiles(kBytes) : PlanOrder::OfChain(5 * kBytes);
}

/** Requires that nothing is left after a join: its folder has only the lock. */
inline void RequireClean(const Path& directory)
{
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        CAPTURE(entry.path().string());
        REQUIRE(entry.path().filename() == ".lock");
    }
}

inline void RequireDone(const Result<JoinVerdict>& verdict)
{
    if (!verdict) FAIL(verdict.Message());
    INFO(verdict->reason);
    REQUIRE(verdict->kind == VerdictKind::kDone);
}
inline void RequireDone(const Result<GeneratedHints>& made)
{
    if (!made) FAIL(made.Message());
    RequireDone(Result<JoinVerdict>(made->verdict));
}

/** Rounds of up to eight kills at any operation of `run(env)`, with `options` of one thread or two.
 *  `died()` changes the further losses of a kill, and says whether all is done nevertheless;
 *  `finish(done, env)` ends each round. */
template <typename Run, typename Died, typename Finish>
void DieAtRandomOperations(JoinOptions& options, uint64_t operations, Run run, Died died,
                           Finish finish)
{
    auto& rng = TestRng();
    int crashed = 0;
    for (int round = 0; round < 60; ++round) {
        options.threads = 1 + static_cast<unsigned>(rng() % 2);
        options.background = options.threads > 1;
        CAPTURE(round, options.threads);
        bool done = false;
        for (int death = 0; death < 8 && !done; ++death) {
            FaultEnv env(rng());
            env.CrashAt(rng() % (operations + 10));
            const auto outcome = run(env);
            done = outcome.Ok();
            if (done) RequireDone(outcome);
            crashed += !done;
            env.LoseUnsynced();
            if (!done) done = died();
        }
        FaultEnv env(rng());
        finish(done, env);
    }
    REQUIRE(crashed > 60);
}

/** `run(env)` is killed, then has a failing operation, at sampled operations of a run
 *  (SampleOfFaults()). `recover(env)` must repair the state that it leaves, and check it; `reset()`
 *  prepares for the next fault. */
template <typename Run, typename Recover, typename Reset>
void FailAtEachOperation(Run run, Recover recover, Reset reset)
{
    FaultEnv counting(7);
    RequireDone(run(counting));
    reset();
    const FaultSample sample = SampleOfFaults(counting.Operations(), 100);
    for (uint64_t point = sample.first; point < counting.Operations(); point += sample.step) {
        for (const bool dies : {true, false}) {
            FaultEnv env(point);
            if (dies) {
                env.CrashAt(point);
            } else {
                env.SetScript([&](const FaultEnv::Operation& op) { return op.number == point; });
            }
            CAPTURE(point, dies);
            const auto outcome = run(env);
            if (env.Operations() <= point) { // its keys, drawn again, for fewer spills
                RequireDone(outcome);
            } else {
                REQUIRE_FALSE(outcome.Ok());
                REQUIRE(outcome.GetError().kind == Error::Kind::kSystem);
                if (dies) env.LoseUnsynced();
                FaultEnv after(point + 1);
                recover(after);
            }
            reset();
        }
    }
}

} // namespace ibd::test
