// See run_merge.h.
#include "swiftsync/run_merge.h"

#include "swiftsync/coin_merge.h"
#include "util/found.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

constexpr uint64_t kLookForStopEvery = 4096; //!< records

} // namespace

Found<WrittenRun> WriteMerged(RunWriter writer, std::span<const RunReader> runs,
                              const std::atomic<bool>& stop)
{
    CoinMerger merger(runs, 0, std::numeric_limits<uint64_t>::max());
    for (uint64_t records = 0;; ++records) {
        if (records % kLookForStopEvery == 0 && stop) return std::nullopt;
        IBD_ASSIGN_OR_RETURN(const bool more, merger.Next());
        if (!more) break;
        IBD_RETURN_IF_ERROR(writer.Add(merger.Record()));
    }
    std::vector<CoinbaseId> coinbases;
    for (const RunReader& run : runs) {
        IBD_ASSIGN_OR_RETURN(const auto some, run.ReadCoinbases());
        coinbases.insert(coinbases.end(), some.begin(), some.end());
    }
    IBD_ASSIGN_OR_RETURN(WrittenRun merged, writer.Finish(coinbases));
    return merged;
}

namespace {

/** Replaces the first `count` runs of the state by one. */
Result<> MergeFirst(size_t count, Env& env, const Path& directory, Checkpoint& state,
                    const std::atomic<bool>& stop)
{
    const auto end_of_old = state.runs.begin() + static_cast<ptrdiff_t>(count);
    const std::vector<RunInfo> old(state.runs.begin(), end_of_old);
    const uint32_t number = state.NextRunNumber();
    {
        IBD_ASSIGN_OR_RETURN(const auto runs, OpenRuns(env, directory, old, state.hints_id));
        IBD_ASSIGN_OR_RETURN(RunWriter writer,
                             RunWriter::Create(env, directory, number, state.hints_id));
        IBD_ASSIGN_OR_RETURN(auto merged, WriteMerged(std::move(writer), runs, stop));
        if (!merged) return env.Remove(RunPath(directory, number));
        IBD_RETURN_IF_ERROR(merged->file->Sync());
        IBD_RETURN_IF_ERROR(env.SyncDirectory(directory));
        state.runs.erase(state.runs.begin(), end_of_old);
        state.runs.push_back(merged->info);
    }
    IBD_RETURN_IF_ERROR(SaveCheckpoint(env, directory, state));
    for (const RunInfo& run : old) IBD_RETURN_IF_ERROR(env.Remove(RunPath(directory, run.number)));
    return {};
}

} // namespace

Result<> MergeRunsDownTo(size_t most, Env& env, const Path& directory, Checkpoint& state,
                         const std::atomic<bool>& stop)
{
    CHECK(most >= 2);
    while (state.runs.size() > most && !stop) {
        std::sort(state.runs.begin(), state.runs.end(), [](const RunInfo& a, const RunInfo& b) {
            return a.size != b.size ? a.size < b.size : a.number < b.number;
        });
        // Merges no more runs than necessary, because each merged run is written once more.
        const size_t count = std::min(most, state.runs.size() - most + 1);
        IBD_RETURN_IF_ERROR(MergeFirst(count, env, directory, state, stop));
    }
    return {};
}

} // namespace ibd
