// JoinLog: makes the records that the workers of a join read durable, in steps. It owns the state
// and the open spill. A step is cut between blocks, when no worker is in Record(): the table is
// emptied into the spill and a new spill is opened. The workers continue while the old one is
// synced and entered into the state. Memory: 4 bytes for each block of the chain (8 if checksums
// are kept), and 12 for each block of a step.
#pragma once

#include "chain/block_source.h"
#include "join/block_account.h"
#include "join/hot_table.h"
#include "join/join_options.h"
#include "join/join_state.h"
#include "join/step_spill.h"
#include "util/threads.h"

namespace ibd {

class JoinLog {
public:
    /** `state`: to resume from; its directory exists. All arguments must outlive the log. */
    JoinLog(Env& env, const JoinOptions& options, JoinState state);
    ~JoinLog();

    /** Call before the first Record(). `sources` are made durable before the records of their
     *  blocks. */
    Result<> Begin(std::span<const std::unique_ptr<BlockSource>> sources);

    /** The other data of a block. */
    struct BlockRead {
        uint32_t height;
        uint32_t outputs;
        uint32_t checksum; //!< if checksums are kept
    };

    /** Adds the records of a block of `bytes` bytes. `sum`: of its outputs and inputs; null if no
     *  sums are kept. Any thread, each with its own `worker` number. */
    Result<> Record(size_t worker, const BlockRead& block, uint64_t bytes,
                    ShardedRecords<JoinRecord>& records, const Aggregate* sum);
    /** The same in a join of values; `account`: begun for this block. */
    Result<> Record(size_t worker, const BlockRead& block, uint64_t bytes,
                    ShardedRecords<ValuedRecord>& records, BlockAccount& account,
                    const Aggregate* sum);
    bool KeepsChecksums() const { return m_keeps_checksums; }
    /** An account for the blocks of a worker; null unless values are joined. */
    std::unique_ptr<BlockAccount> NewAccount(size_t worker, const ConsensusParams& params);
    /** An empty sum for the blocks of a worker; null if no sums are kept. */
    std::unique_ptr<Aggregate> NewSum() const;

    /** The share of records so far that were not matched. Any thread. */
    double UnmetShare();

    /** Waits until everything is durable. No Record() may follow. */
    Result<> Finish();

    /** The durable state, after Finish(). */
    const JoinState& State() const { return m_state; }

private:
    /** The data read since the last cut. */
    struct Step {
        std::vector<BlockRead> blocks;
        uint64_t bytes = 0;
        uint64_t records = 0;
        uint64_t met = 0; //!< of the whole join so far
        std::unique_ptr<Aggregate> sum;
        std::optional<WrittenSpill> spill; //!< of events
        std::optional<WrittenSpill> pairs;
        std::optional<WrittenSpill> values;
    };

    bool IsDue(bool look_at_clock) const;
    Result<> Cut(bool last);
    Result<Step> Close(bool last);
    Result<Step> CloseStep(bool last);
    Result<> OpenSpill();
    /** Calls `act` on the table in use. */
    template <typename Do>
    void OnTable(const Do& act)
    {
        m_table ? act(*m_table) : act(*m_valued_table);
    }
    template <typename Take>
    Result<> RecordBy(const Take& take, const BlockRead& block, uint64_t bytes, uint64_t records,
                      const Aggregate* sum);
    void Work();
    Result<> Commit(Step step);
    Result<> FirstError() const;
    Result<> FailToWrite();
    void Fail(const Error& error);

    Env& m_env;
    const JoinOptions& m_options;
    JoinState m_state; //!< changed by the committing thread only
    // One of these two is set.
    std::optional<HotTable<JoinRecord>> m_table;
    std::optional<HotTable<ValuedRecord>> m_valued_table;
    std::span<const std::unique_ptr<BlockSource>> m_sources;
    const uint64_t m_met_before;     //!< bytes read by the earlier joins that this one resumes
    std::atomic<uint64_t> m_records; //!< total so far
    const bool m_keeps_checksums;
    // Copies of values in the state, which belongs to another thread.
    const std::optional<AggregateKind> m_aggregate;
    const AggregateSalt m_salt;

    Mutex m_cutting;    //!< one thread at a time ends a step
    Mutex m_door;       //!< held while the end of a step waits for the exclusive gate, so that no
                        //!< Record() overtakes it
    SharedMutex m_gate; //!< shared while a block is recorded, exclusive while a step is cut
    std::unique_ptr<SpillWriter> m_writer;
    const std::optional<HeightRanges> m_ranges; //!< of pairs and values, if they are kept
    std::optional<StepSpill<PairCollector>> m_pairs;
    std::optional<StepSpill<ValueCollector>> m_values;
    uint32_t m_next_spill = 0;
    std::atomic<uint64_t> m_step_bytes = 0;
    std::atomic<int64_t> m_step_began = 0; //!< MonotonicMicros
    std::atomic<bool> m_step_full = false; //!< its spill has the greatest number of pages

    mutable Mutex m_mutex;
    Step m_step IBD_GUARDED_BY(m_mutex);
    std::optional<Error> m_error IBD_GUARDED_BY(m_mutex);
    BoundedQueue<Step> m_queue{1};
    NamedThread m_thread;
};

} // namespace ibd
