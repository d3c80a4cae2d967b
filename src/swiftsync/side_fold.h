// SideFold: folds blocks that are read for something else, so that the sync which is to follow need
// not read them: of each the coins, as a first pass has checked it and summed what it makes and
// spends. It is part of that sync ahead of its time, and leaves a checkpoint that SyncEngine::Run()
// goes on from. Nothing that it cannot do fails whoever reads: the sync folds what is left, and
// says what is wrong. Owned by who starts both. Memory: as given, a byte a block, and about 30
// bytes a header. See doc/develop/booster.md.
#pragma once

#include "swiftsync/fold_start.h"

namespace ibd {

class SideFold {
public:
    /** For a sync that is given the same; all must outlive it. Null: what the first pass has found
     *  is of no use to that. Errors: the machine's. `memory_bytes`: of coins not yet written. */
    static Result<std::unique_ptr<SideFold>> Begin(Env& env, Logger& log, const ChainParams& params,
                                                   const HeaderNode& terminal,
                                                   const BlockStore& blocks, const Hints& hints,
                                                   BoosterOptions options, const FirstPass& first,
                                                   size_t memory_bytes);
    ~SideFold();

    /** A block that is what the first pass has checked; each is folded once, however often it
     *  comes. `worker`: below BoosterOptions::threads, each on one thread at a time. */
    void Take(size_t worker, const HeaderNode& node, PlainBlock& block);

    /** Once, when nobody calls Take() any more: what was folded is durable. */
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
