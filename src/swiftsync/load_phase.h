// LoadPhase: the second half of a sync - from the runs of hints that were accepted to the
// chainstate in its place. Called by SyncEngine on its thread; starts a thread that loads,
// and those of the loader, for the time of Run(). Memory: BoosterOptions::memory_bytes.
#pragma once

#include "swiftsync/chainstate_loader.h"
#include "swiftsync/sync_progress.h"
#include "util/progress.h"

namespace ibd {

class LoadPhase {
public:
    /** All must outlive it. */
    LoadPhase(const SyncJob& job, SyncProgress& progress) : m_job(job), m_progress(progress) {}

    /** Once. `runs`: those of `accepted`, open. Unless the report tells of a duplicate or of an
     *  interruption, the chainstate is in place and nothing is left of what led to it. */
    Result<LoadReport> Run(const Checkpoint& accepted, std::vector<RunReader> runs);

private:
    size_t MostRuns() const;
    Result<> LimitRuns(Checkpoint accepted);
    Result<LoadReport> LoadAndShow(const LoadTask& task);
    Result<> Publish(Checkpoint done);

    const SyncJob& m_job;
    SyncProgress& m_progress;
    std::vector<RunReader> m_runs;
};

} // namespace ibd
