// JoinLog: what a worker meets whose colleague could not begin another step.
#include "join/join_log.h"
#include "records.h"
#include "sim/fault_env.h"
#include "support/must.h"
#include "support/temp_dir.h"

namespace ibd::test {

TEST_CASE("Once no spill can be begun, no worker writes to one")
{
    const TempDir dir{MemoryFolder()};
    FaultEnv env;
    JoinOptions options;
    options.directory = dir.Get();
    options.threads = 2;
    options.memory_bytes = 1 << 16;
    options.checkpoint_bytes = 4;
    options.background = false;
    options.pairs = true;
    JoinState state;
    state.terminal_height = 10;
    state.pairs = true;
    state.partition_bits = TableShape::kMinPartitionBits;
    state.outputs.assign(11, JoinState::kNotRead);
    state.checksums.resize(11);
    JoinLog log(env, options, state);
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

} // namespace ibd::test
