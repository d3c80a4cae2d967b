// The start of a fold: from the checkpoint of a directory or from nothing; and the data that its
// workers share. Called by FoldPhase and SideFold on their threads.
#pragma once

#include "swiftsync/fold_worker.h"
#include "swiftsync/sync_job.h"

namespace ibd {

/** The checkpoint to start from, if it belongs to this sync and its runs are complete; else a new
 *  one, which is saved. An unreadable checkpoint or run (EIO, EMFILE) is an error, not damage: it
 *  is kept. */
Result<Checkpoint> BeginFold(const SyncJob& job);

/** Makes the committer of the job's workers, starting from a checkpoint. */
Committer MakeCommitter(const SyncJob& job, Checkpoint start, std::atomic<uint64_t>& disk_bytes);

/** `memory_bytes`: for the coins of all workers. All arguments must outlive it. */
FoldContext MakeFoldContext(const SyncJob& job, Committer& committer,
                            std::atomic<uint32_t>& next_run, size_t memory_bytes,
                            std::vector<FoldObserver*> observers);

} // namespace ibd
