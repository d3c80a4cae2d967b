// JoinWorker: one thread's share of reading. Takes blocks from its source, checks them as the
// booster does, and turns each into records: of each output that hints count, and of each input.
// With JoinOptions::aggregate it sums these as the fold does. Shares only the log.
#pragma once

#include "join/join_log.h"
#include "swiftsync/block_taker.h"
#include "swiftsync/fold.h"
#include "swiftsync/terminal.h"

namespace ibd {

/** A worker's progress; written by the worker only, read by any thread. */
struct alignas(64) JoinCounters {
    std::atomic<uint64_t> blocks = 0;
    std::atomic<uint64_t> bytes = 0;
};

/** Shared by all workers; immutable but for the log. */
struct JoinContext {
    const ChainParams& params;
    const FoldRules rules;
    const UniqueCoinbases unique; //!< coinbases whose txids must differ, so that pairs can be found
                                  //!< in any order of blocks
    const AggregateSalt& salt;    //!< for the names of outpoints
    JoinLog& log;
    const bool connected;          //!< see JoinOptions
    const std::atomic<bool>& stop; //!< request to end early; finished work is kept
};

class JoinWorker {
public:
    /** `number`: of this worker, from 0. */
    JoinWorker(const JoinContext& context, size_t number, JoinCounters& counters);

    /** Reads until the source is empty, `stop` is set or something fails. */
    std::optional<FoldFailure> Run(BlockSource& source);

private:
    Result<> Record(const SuppliedBlock& block);
    uint32_t AddCreated(uint32_t height);
    void AddSpent(uint32_t height);
    void AddCoinbaseId(uint32_t height);
    void AddListed(JoinKind kind, uint32_t height, uint32_t first);

    const JoinContext& m_context;
    const size_t m_number;
    JoinCounters& m_counters;
    BlockTaker m_taker;
    ShardedRecords<JoinRecord> m_records;
    // In a join of values, instead of m_records.
    ShardedRecords<ValuedRecord> m_valued;
    std::vector<uint64_t> m_coins;                 //!< MadeCoin::Number() of each output of the
                                                   //!< block
    const std::unique_ptr<BlockAccount> m_account; //!< null unless values are joined
    const OutpointNamer m_namer;
    const std::unique_ptr<Aggregate> m_sum; //!< of a block; null: no sum is kept
    OutpointList m_listed;                  //!< outputs or inputs of a block
};

} // namespace ibd
