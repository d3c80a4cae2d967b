// SideFold: folds blocks that are read for another purpose, so that the following sync need not
// read them. It takes only the coins, since a first pass has checked and summed the blocks. It does
// a part of that sync's work in advance and leaves a checkpoint, from which SyncEngine::Run()
// resumes. A failure here never fails the reader; the sync folds what is missing and reports
// errors. Owned by the code that starts both. Memory: as given, a byte for each block, and about 30
// bytes a header. See doc/develop/booster.md.
#pragma once

#include "swiftsync/fold_start.h"

namespace ibd {

class SideFold {
public:
    /** Begins the fold for a later sync with the same arguments; all must outlive it. Null: the
     *  sync cannot use the result of the first pass. Errors: the machine's. `memory_bytes`: for
     *  coins not yet written. */
    static Result<std::unique_ptr<SideFold>> Begin(Env& env, Logger& log, const ChainParams& params,
                                                   const HeaderNode& terminal,
                                                   const BlockStore& blocks, const Hints& hints,
                                                   BoosterOptions options, const FirstPass& first,
                                                   size_t memory_bytes);
    ~SideFold();

    /** Folds a block that the first pass has checked; repeated calls for it have no effect.
     *  `worker`: below BoosterOptions::threads, each on one thread at a time. */
    void Take(size_t worker, const HeaderNode& node, PlainBlock& block);

    /** Call once, after the last Take(): makes all folded work durable. */
    void End();

private:
    SideFold(std::unique_ptr<SyncJob> job, std::unique_ptr<FileLock> lock, Checkpoint start,
             size_t memory_bytes);
    void Fail(const Error& error);

    const std::unique_ptr<SyncJob> m_job;
    const std::unique_ptr<FileLock> m_lock; //!< of the directory
    std::vector<std::atomic<bool>> m_taken; //!< by height
    std::atomic<uint64_t> m_disk_bytes = 0;
    std::atomic<uint32_t> m_next_run;
    Committer m_committer;
    const FoldContext m_context;
    std::vector<WorkerCounters> m_counters;
    std::vector<std::unique_ptr<FoldWorker>> m_workers;
    std::atomic<bool> m_failed = false;
};

} // namespace ibd
