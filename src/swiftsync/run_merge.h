// Limits the number of runs before the merge into the chainstate, because that merge takes a page
// of memory for each run and thread. Small buffers or short intervals leave thousands of runs. One
// thread, the engine's. Memory: a page (32 KiB) for each merged run.
#pragma once

#include "swiftsync/checkpoint.h"

#include <atomic>

namespace ibd {

/** Merges the smallest runs of `state`, at most `most` (at least 2) at a time, into larger ones
 *  until `most` are left. Each merge is durable before its inputs are removed, and takes disk space
 *  for its result. Ends early, without an error, once `stop` is set. Errors: bad data: a run is
 *  damaged; else the machine's. */
Result<> MergeRunsDownTo(size_t most, Env& env, const Path& directory, Checkpoint& state,
                         const std::atomic<bool>& stop);

/** Writes all records and coinbase ids of `runs` as one run; nothing if `stop` is set. */
Found<WrittenRun> WriteMerged(RunWriter writer, std::span<const RunReader> runs,
                              const std::atomic<bool>& stop);

} // namespace ibd
