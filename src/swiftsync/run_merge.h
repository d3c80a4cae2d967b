// Keeps the number of runs in bounds before they are all merged at once into the chainstate: that
// takes a page of memory for each run and thread, and small buffers or short intervals leave
// thousands of runs. One thread, the engine's. Memory: a page (32 KiB) for each run merged.
#pragma once

#include "swiftsync/checkpoint.h"

#include <atomic>

namespace ibd {

/** Merges the smallest runs of `state`, at most `most` (2 at least) at a time, into larger ones
 *  until `most` are left. Each merge is durable before what it replaces is removed, and costs
 *  disk space for its result. Ends early, without an error, once `stop` is set. Errors: bad data,
 *  a run is damaged; else the machine's. */
Result<> MergeRunsDownTo(size_t most, Env& env, const Path& directory, Checkpoint& state,
                         const std::atomic<bool>& stop);

} // namespace ibd
