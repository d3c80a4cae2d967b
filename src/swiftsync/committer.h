// Committer: makes workers' epochs durable and keeps the checkpoint. A worker hands over what it
// did since its last epoch with a written but unsynced run; the committer's thread syncs the run,
// adds the epoch to the state and replaces the checkpoint, so that no worker waits for a disk and
// every checkpoint is consistent without stopping any. Bounded: a worker that hands over an epoch
// waits until its previous one is durable, so that a crash costs it two epochs at most.
#pragma once

#include "chain/block_source.h"
#include "swiftsync/checkpoint_log.h"
#include "util/threads.h"

#include <functional>

namespace ibd {

/** What one worker did between two spills. */
struct Epoch {
    size_t worker = 0;             //!< who did it, 0 to number of workers - 1
    BlockSource* source = nullptr; //!< where the blocks came from; made durable before the epoch
    FoldTotals totals;
    std::vector<uint32_t> heights;
    Bytes sum; //!< Aggregate::Serialize() of just these blocks
    bool has_run = false;
    WrittenRun run;
};

class Committer {
public:
    /** Why totals over some of the blocks cannot be; nothing if they can. */
    using Refute = std::function<std::optional<std::string>(const FoldTotals&)>;

    /** `state`: the checkpoint to go on from; its directory exists. With `background` false every
     *  Submit() commits on the calling thread, so that a test repeats exactly. `disk_bytes`: told
     *  of the runs' size on disk. */
    Committer(Env& env, Path directory, Checkpoint state, size_t workers, bool background,
              Refute refute, std::atomic<uint64_t>& disk_bytes);
    ~Committer();

    /** To be called for an epoch before anything of it is written: bad data, with the reason, if
     *  the hints are refuted with it, so that wrong ones fill no disk. Any thread. */
    Result<> Announce(const FoldTotals& epoch);

    /** Hands an epoch over; waits until the one before of the same worker is durable. An error is
     *  an earlier failure. Each worker on a thread of its own. */
    Result<> Submit(Epoch epoch);

    /** Waits until all is durable. No Submit() may follow. */
    Result<> Finish();

    /** After Finish(). */
    const Checkpoint& State() const { return m_state; }

private:
    void Work();
    Result<> Commit(Epoch& epoch);
    Result<> FirstError() const;
    void Fail(const Error& error);
    void SetDurable(size_t worker);

    Env& m_env;
    const Path m_directory;
    Checkpoint m_state;               //!< changed by the committing thread alone
    std::unique_ptr<Aggregate> m_sum; //!< likewise
    CheckpointLog m_log;              //!< likewise
    std::atomic<uint64_t>& m_disk_bytes;
    const Refute m_refute;
    mutable Mutex m_mutex;
    std::condition_variable_any m_durable; //!< an epoch became durable, or never will
    FoldTotals m_announced IBD_GUARDED_BY(m_mutex); //!< durable or on the way
    /** By worker: an epoch is not yet durable. */
    std::vector<bool> m_pending IBD_GUARDED_BY(m_mutex);
    std::optional<Error> m_error IBD_GUARDED_BY(m_mutex);
    BoundedQueue<Epoch> m_queue;
    NamedThread m_thread;
    const bool m_background;
};

} // namespace ibd
