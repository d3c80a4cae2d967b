// FoldPhase: the first half of a sync - from the checkpoint, or from nothing, to the last block
// folded and durable. Owns the workers, their sources and the committer for the time of Run().
// Called by SyncEngine on its thread; starts a thread a worker and one for the committer. Memory:
// BoosterOptions::memory_bytes and the blocks being parsed.
#pragma once

#include "swiftsync/sync_progress.h"

namespace ibd {

struct FoldEnd {
    Checkpoint state; //!< all that is folded; durable
    std::optional<FoldFailure> failure;
};

class FoldPhase {
public:
    /** All must outlive it. */
    FoldPhase(const SyncJob& job, BlockSupply& supply, SyncProgress& progress)
        : m_job(job), m_supply(supply), m_progress(progress)
    {
    }

    /** Once. Ends when all is folded, the supply is empty, something failed or the job is stopped.
     *  An error is the machine's: what is durable is in the checkpoint. */
    Result<FoldEnd> Run();

private:
    Result<std::optional<FoldFailure>> FoldAll(Committer& committer);
    FoldObserver* FindObserver(const HeightSet& folded) const;
    std::optional<FoldFailure> RunWorkers(const FoldContext& context);
    void Work(const FoldContext& context, size_t number);

    const SyncJob& m_job;
    BlockSupply& m_supply;
    SyncProgress& m_progress;
    std::vector<std::unique_ptr<BlockSource>> m_sources; //!< by worker; until all is durable

    Mutex m_mutex;
    std::optional<FoldFailure> m_failure IBD_GUARDED_BY(m_mutex); //!< the first
};

} // namespace ibd
