// JoinLog: the error of a worker after another worker could not begin a step.
#include "join/join_log.h"
#include "records.h"
#include "sim/fault_env.h"
#include "support/must.h"
#include "support/temp_dir.h"

namespace ibd::test {

namespace {

/** A job of ten blocks, with pairs. */
JoinState NewState()
{
    JoinState state;
    state.terminal_height = 10;
    state.pairs = true;
    state.partition_bits = TableShape::kMinPartitionBits;
    state.outputs.assign(11, JoinState::kNotRead);
    state.checksums.resize(11);
    return state;
}

/** Nothing in the background; a step is cut after so many bytes of blocks. */
JoinOptions NewOptions(const Path& directory, uint64_t bytes_a_step)
{
    JoinOptions options;
    options.directory = directory;
    options.threads = 2;
    options.memory_bytes = 1 << 16;
    options.checkpoint_bytes = bytes_a_step;
    options.background = false;
    options.pairs = true;
    return options;
}

} // namespace

TEST_CASE("Once no spill can be begun, no worker writes to one")
{
    const TempDir dir{MemoryFolder()};
    FaultEnv env;
    const JoinOptions options = NewOptions(dir.Get(), 4);
    JoinLog log(env, options, NewState());
    Must(log.Begin({}));
    // The second pair of spills, of events and of pairs.
    const Path fails = SpillPath(dir.Get(), GENERATE(2, 3));
    env.SetScript([&](const FaultEnv::Operation& operation) { return operation.path == fails; });
    ShardedRecords<JoinRecord> records;
    records.Reset(0);
    const auto first = log.Record(0, {1, 0, 0}, 1'000, records, nullptr);
    REQUIRE_FALSE(first);
    // More pairs than are gathered before they are written.
    constexpr size_t kPairs = 1'000;
    records.Reset(2 * kPairs);
    for (size_t i = 0; i < kPairs; ++i) {
        const OutpointName name{TestRng()(), TestRng()()};
        records.Add(MakeEvent(name, JoinKind::kCreated, 2, i));
        records.Add(MakeEvent(name, JoinKind::kSpent, 3, i));
    }
    const auto second = log.Record(1, {3, 0, 0}, 1'000, records, nullptr);
    REQUIRE_FALSE(second);
    CHECK(second.Message() == first.Message());
}

TEST_CASE("However slow the blocks come, they are not cut into small steps")
{
    constexpr uint64_t kBlock = 2 << 20, kBlocks = 100, kBlocksAStep = 5;
    const TempDir dir{MemoryFolder()};
    FaultEnv env;
    JoinOptions options = NewOptions(dir.Get(), kBlocksAStep * kBlock * JoinOptions::kMostSteps);
    options.checkpoint_seconds = 0; // is always over
    options.pairs = false;
    JoinState state = NewState();
    state.pairs = false;
    state.checksums.clear(); // kept with pairs only
    state.terminal_height = kBlocks;
    state.outputs.assign(kBlocks + 1, JoinState::kNotRead);
    JoinLog log(env, options, std::move(state));
    Must(log.Begin({}));
    for (uint32_t block = 1; block <= kBlocks; ++block) {
        ShardedRecords<JoinRecord> records;
        records.Reset(1);
        records.Add(MakeEvent({TestRng()(), TestRng()()}, JoinKind::kCreated, 1, block));
        Must(log.Record(0, {block, 0, 0}, kBlock, records, nullptr));
    }
    Must(log.Finish());
    CHECK(log.State().spills.size() == kBlocks / kBlocksAStep);
}

TEST_CASE("A spill that cannot be written is named by whoever ends the log")
{
    const TempDir dir{MemoryFolder()};
    FaultEnv env;
    const JoinOptions options = NewOptions(dir.Get(), uint64_t{1} << 40); // one step
    JoinLog log(env, options, NewState());
    Must(log.Begin({}));
    const Path fails = SpillPath(dir.Get(), GENERATE(0, 1)); // of events, of pairs
    CAPTURE(fails);
    env.SetScript([&](const FaultEnv::Operation& operation) {
        return operation.kind == "write" && operation.path == fails;
    });
    Result<> recorded;
    for (uint32_t block = 1; recorded && block <= 1'000; ++block) {
        ShardedRecords<JoinRecord> records;
        constexpr size_t kEach = 10'000;
        records.Reset(3 * kEach);
        for (size_t i = 0; i < kEach; ++i) {
            const OutpointName met{TestRng()(), TestRng()()};
            records.Add(MakeEvent(met, JoinKind::kCreated, 2, i));
            records.Add(MakeEvent(met, JoinKind::kSpent, 3, i));
            records.Add(MakeEvent({TestRng()(), TestRng()()}, JoinKind::kCreated, 2, i));
        }
        recorded = log.Record(0, {1 + block % 10, 0, 0}, 1'000, records, nullptr);
    }
    REQUIRE_FALSE(recorded);
    CHECK(recorded.Message().find(fails.string()) != std::string::npos);
    const Result<> ended = log.Finish();
    REQUIRE_FALSE(ended);
    CHECK(ended.Message() == recorded.Message());
}

} // namespace ibd::test
