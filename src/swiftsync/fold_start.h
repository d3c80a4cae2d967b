// How a fold begins: from the checkpoint of a directory or from nothing, and with what its workers
// share. Called by FoldPhase and SideFold on their threads.
#pragma once

#include "swiftsync/fold_worker.h"
#include "swiftsync/sync_job.h"

namespace ibd {

/** Where to start: the checkpoint if it is of this sync and its runs are whole; else a new one,
 *  which is saved. What cannot be read now is not damaged for that: the work stays for a start that
 *  can, and that is an error. */
Result<Checkpoint> BeginFold(const SyncJob& job);

/** Who makes the work of the job's workers durable, from a checkpoint on. */
Committer MakeCommitter(const SyncJob& job, Checkpoint start, std::atomic<uint64_t>& disk_bytes);

/** `memory_bytes`: for the coins of all workers. All must outlive it. */
FoldContext MakeFoldContext(const SyncJob& job, Committer& committer,
                            std::atomic<uint32_t>& next_run, size_t memory_bytes,
                            FoldObserver* observer);

} // namespace ibd
