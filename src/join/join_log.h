// JoinLog: makes what the workers of a join have read durable, in steps. It owns the state and the
// spill being written. A step is cut between blocks, when no worker is in Record(): the table is
// emptied into the spill, another one is begun, and the workers go on while the first is synced and
// named by the state. Memory: 4 bytes a block of the chain, 8 if checksums are kept, and 12 of
// those of a step.
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
    /** `state`: to go on from; its directory exists. All referred to must outlive the log. */
    JoinLog(Env& env, const JoinOptions& options, JoinState state);
    ~JoinLog();

    /** Before the first Record(); `sources` are made durable before what they gave is. */
    Result<> Begin(std::span<const std::unique_ptr<BlockSource>> sources);

    /** What is to be known of a block besides its records. */
    struct BlockRead {
        uint32_t height;
        uint32_t outputs;
        uint32_t checksum; //!< if they are kept
    };

    /** Takes in a block of so many bytes whose records these are; `sum`: of its outputs and inputs,
     *  null if there are none. Any thread, each with its own number of a worker. */
    Result<> Record(size_t worker, const BlockRead& block, uint64_t bytes,
                    ShardedRecords<JoinRecord>& records, const Aggregate* sum);
    /** Likewise, in a join of values; `account`: of this block, has begun. */
    Result<> Record(size_t worker, const BlockRead& block, uint64_t bytes,
                    ShardedRecords<ValuedRecord>& records, BlockAccount& account,
                    const Aggregate* sum);
    bool KeepsChecksums() const { return m_keeps_checksums; }
    /** An account for the blocks of a worker; null: this is no join of values. */
    std::unique_ptr<BlockAccount> NewAccount(size_t worker, const ConsensusParams& params);
    /** An empty one for the blocks of a worker; null if none are kept. */
    std::unique_ptr<Aggregate> NewSum() const;

    /** Share of the records so far that have met no other. Any thread. */
    double UnmetShare();

    /** Waits until all is durable. No Record() may follow. */
    Result<> Finish();

    /** After Finish(): what is durable. */
    const JoinState& State() const { return m_state; }

private:
    /** What is read since the last cut. */
    struct Step {
        std::vector<BlockRead> blocks;
        uint64_t bytes = 0;
        uint64_t records = 0;
        uint64_t met = 0; //!< in all until now
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
    /** Whichever there is. */
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
    JoinState m_state; //!< changed by the committing thread alone
    // One of these.
    std::optional<HotTable<JoinRecord>> m_table;
    std::optional<HotTable<ValuedRecord>> m_valued_table;
    std::span<const std::unique_ptr<BlockSource>> m_sources;
    const uint64_t m_met_before; //!< by earlier joins that this one goes on with
    std::atomic<uint64_t> m_records; //!< in all until now
    const bool m_keeps_checksums;
    // Of the state, which is another thread's.
    const std::optional<AggregateKind> m_aggregate;
    const AggregateSalt m_salt;

    Mutex m_cutting;    //!< one cuts at a time
    Mutex m_door;       //!< held by who waits for the gate alone, so that others do not overtake it
    SharedMutex m_gate; //!< held shared while a block is taken in, alone while a step is cut
    std::unique_ptr<SpillWriter> m_writer;
    const std::optional<HeightRanges> m_ranges; //!< of pairs and values, if there are any
    std::optional<StepSpill<PairCollector>> m_pairs;
    std::optional<StepSpill<ValueCollector>> m_values;
    uint32_t m_next_spill = 0;
    std::atomic<uint64_t> m_step_bytes = 0;
    std::atomic<int64_t> m_step_began = 0; //!< MonotonicMicros
    std::atomic<bool> m_step_full = false; //!< its spill has as many pages as may be

    mutable Mutex m_mutex;
    Step m_step IBD_GUARDED_BY(m_mutex);
    std::optional<Error> m_error IBD_GUARDED_BY(m_mutex);
    BoundedQueue<Step> m_queue{1};
    NamedThread m_thread;
};

} // namespace ibd
