// SyncProgress: the progress of one sync, for the tty, the log and getboosterinfo. Owned by
// SyncEngine. The sync's thread reports the phases, each worker counts its own work, and any thread
// may read at any time. Memory: a cache line for each worker.
#pragma once

#include "swiftsync/fold_progress.h"
#include "swiftsync/fold_worker.h"
#include "swiftsync/sync_job.h"

namespace ibd {

/** Bytes of an average coin in a run and in a table. */
constexpr uint64_t kRunBytesPerCoin = 64;
constexpr uint64_t kTableBytesPerCoin = 70;

class SyncProgress {
public:
    explicit SyncProgress(const SyncJob& job) : m_job(job), m_workers(job.options.threads) {}

    // For the thread that runs the sync.

    void Begin() { m_start_micros = m_job.env.MonotonicMicros(); }
    /** A new attempt begins, possibly after a failed one. */
    void BeginTry();
    /** Adds the work of an earlier sync. */
    void Resume(const FoldTotals& totals, uint64_t blocks);
    /** `bytes`: of the blocks to be read, estimated. */
    void BeginFold(uint64_t bytes);
    /** Updates that estimate while blocks are folded. */
    void Expect(uint64_t bytes) { m_total_bytes = bytes; }
    void BeginLoad();
    void SetState(FoldState state) { m_state.store(state, std::memory_order_relaxed); }
    /** Ends the sync, accepted or refused, with its verdict. */
    void Conclude(FoldState state, std::string verdict);
    // Counted by the workers.

    WorkerCounters& Worker(size_t number) { return m_workers[number]; }
    std::atomic<uint64_t>& CoinsLoaded() { return m_coins_loaded; }
    /** Bytes of runs on disk. */
    std::atomic<uint64_t>& DiskBytes() { return m_disk_bytes; }

    // For any thread.

    FoldProgress Snapshot() const;
    /** Bytes of finished blocks, also of earlier syncs. */
    uint64_t BytesDone() const;
    uint64_t ResumedBytes() const;
    uint64_t ResumedBlocks() const;
    /** The end of the progress line while blocks are folded. */
    std::string FoldDetail(uint64_t all_blocks) const;
    std::string MemoryDetail() const;

private:
    uint64_t Sum(std::atomic<uint64_t> WorkerCounters::*counter) const;
    void AddRates(FoldProgress& to, uint64_t read_bytes) const;

    const SyncJob& m_job;
    std::vector<WorkerCounters> m_workers;
    std::atomic<uint64_t> m_coins_loaded = 0;
    std::atomic<uint64_t> m_disk_bytes = 0;
    std::atomic<FoldState> m_state = FoldState::kIdle;
    std::atomic<uint64_t> m_total_bytes = 0; //!< bytes left to read when the fold began
    std::atomic<int64_t> m_start_micros = 0;
    std::atomic<int64_t> m_fold_micros = 0; //!< when the fold began
    std::atomic<int64_t> m_load_micros = 0; //!< when loading began; 0 before
    std::atomic<int64_t> m_end_micros = 0;  //!< 0 while the sync runs

    mutable Mutex m_mutex;
    FoldTotals m_resumed IBD_GUARDED_BY(m_mutex);
    uint64_t m_resumed_blocks IBD_GUARDED_BY(m_mutex) = 0;
    std::string m_verdict IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
