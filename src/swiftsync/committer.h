// Committer: makes workers' epochs durable and keeps the checkpoint. A worker hands over the
// results since its last epoch, with a written but unsynced run. The committer's thread syncs the
// run, adds the epoch to the state and saves the checkpoint. Thus no worker waits for a disk, and
// every checkpoint is consistent. Bounded: a worker that hands over an epoch waits until its
// previous one is durable, so that a crash costs it at most two epochs.
#pragma once

#include "chain/block_source.h"
#include "swiftsync/checkpoint_log.h"
#include "util/threads.h"

#include <functional>

namespace ibd {

/** The results of one worker between two spills. */
struct Epoch {
    size_t worker = 0;             //!< 0 to number of workers - 1
    BlockSource* source = nullptr; //!< source of the blocks; made durable before the epoch
    FoldTotals totals;
    std::vector<uint32_t> heights;
    Bytes sum; //!< Aggregate::Serialize() of these blocks alone
    bool has_run = false;
    WrittenRun run;
};

class Committer {
public:
    /** The reason why totals over some of the blocks are impossible; nothing: they are possible. */
    using Refute = std::function<std::optional<std::string>(const FoldTotals&)>;

    /** `state`: the checkpoint to resume from; its directory exists. `background`: false: every
     *  Submit() commits on the calling thread, so that a test is deterministic. `disk_bytes`:
     *  receives the size of the runs on disk. */
    Committer(Env& env, Path directory, Checkpoint state, size_t workers, bool background,
              Refute refute, std::atomic<uint64_t>& disk_bytes);
    ~Committer();

    /** Call it before an epoch is written. Bad data, with the reason: the totals with this epoch
     *  refute the hints. So wrong hints cannot fill the disk. Any thread. */
    Result<> Announce(const FoldTotals& epoch);

    /** Hands an epoch over; waits until the worker's previous one is durable. An error is an
     *  earlier failure. Each worker calls it on its own thread. */
    Result<> Submit(Epoch epoch);

    /** Waits until everything is durable. No Submit() may follow. */
    Result<> Finish();

    /** The state, after Finish(). */
    const Checkpoint& State() const { return m_state; }

private:
    void Work();
    Result<> Commit(Epoch& epoch);
    Result<> FirstError() const;
    void Fail(const Error& error);
    void SetDurable(size_t worker);

    Env& m_env;
    const Path m_directory;
    Checkpoint m_state;               //!< changed by the committing thread only
    std::unique_ptr<Aggregate> m_sum; //!< changed by the committing thread only
    CheckpointLog m_log;              //!< changed by the committing thread only
    std::atomic<uint64_t>& m_disk_bytes;
    const Refute m_refute;
    mutable Mutex m_mutex;
    std::condition_variable_any m_durable;          //!< an epoch became durable, or failed
    FoldTotals m_announced IBD_GUARDED_BY(m_mutex); //!< durable or pending
    /** For each worker, whether an epoch is pending. */
    std::vector<bool> m_pending IBD_GUARDED_BY(m_mutex);
    std::optional<Error> m_error IBD_GUARDED_BY(m_mutex);
    BoundedQueue<Epoch> m_queue;
    NamedThread m_thread;
    const bool m_background;
};

} // namespace ibd
