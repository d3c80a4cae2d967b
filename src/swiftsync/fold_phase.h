// FoldPhase: the first half of a sync: resumes from the checkpoint, or starts from nothing, and
// folds all blocks durably. Owns the workers, their sources and the committer during Run(). Called
// by SyncEngine on its thread; starts a thread for each worker and one for the committer. Memory:
// BoosterOptions::memory_bytes and the blocks being parsed.
#pragma once

#include "swiftsync/sync_progress.h"
#include "util/found.h"
#include "util/progress.h"

namespace ibd {

struct FoldEnd {
    Checkpoint state; //!< all folded work; durable
    std::optional<FoldFailure> failure;
};

class FoldPhase {
public:
    /** All arguments must outlive it. */
    FoldPhase(const SyncJob& job, BlockSupply& supply, SyncProgress& progress)
        : m_job(job), m_supply(supply), m_progress(progress)
    {
    }

    /** Call once. Ends when all is folded, the supply is empty, an error occurred or the job is
     *  stopped. An error is the machine's: the durable part is in the checkpoint. */
    Result<FoldEnd> Run();

private:
    Found<FoldFailure> FoldAll(Committer& committer);
    std::vector<FoldObserver*> BeginObservers(const HeightSet& folded) const;
    std::optional<FoldFailure> RunWorkers(const FoldContext& context);
    uint64_t BytesToFold() const;
    void ExpectBytes(ProgressMeter& meter) const;
    void Work(const FoldContext& context, size_t number);

    const SyncJob& m_job;
    BlockSupply& m_supply;
    SyncProgress& m_progress;
    std::vector<std::unique_ptr<BlockSource>> m_sources; //!< by worker; kept until all is durable

    Mutex m_mutex;
    std::optional<FoldFailure> m_failure IBD_GUARDED_BY(m_mutex); //!< the first
};

} // namespace ibd
