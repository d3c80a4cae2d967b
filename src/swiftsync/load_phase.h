// LoadPhase: the second half of a sync: makes the chainstate from the runs of accepted hints and
// puts it in place. Called by SyncEngine on its thread; starts a thread that loads, and those of
// the loader, during Run(). Memory: BoosterOptions::memory_bytes.
#pragma once

#include "swiftsync/chainstate_loader.h"
#include "swiftsync/sync_progress.h"
#include "util/progress.h"

namespace ibd {

class LoadPhase {
public:
    /** Both must outlive it. */
    LoadPhase(const SyncJob& job, SyncProgress& progress) : m_job(job), m_progress(progress) {}

    /** Call once. `runs`: those of `accepted`, open. Unless the report shows a duplicate or an
     *  interruption, the chainstate is in place and the files of the sync are removed. */
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
