// JoinWorker: one thread's share of reading. Takes blocks from its source, checks them as the
// booster does, and turns each into records: an output that hints count was made, an output was
// spent. If asked, it sums these as the fold does. Nothing is shared but the log.
#pragma once

#include "join/join_log.h"
#include "swiftsync/block_taker.h"
#include "swiftsync/fold.h"
#include "swiftsync/terminal.h"

namespace ibd {

/** What a worker has done, for progress; written by it alone, read by anyone. */
struct alignas(64) JoinCounters {
    std::atomic<uint64_t> blocks = 0;
    std::atomic<uint64_t> bytes = 0;
};

/** What all workers share; immutable but for what is the log's. */
struct JoinContext {
    const ChainParams& params;
    const FoldRules rules;
    const UniqueCoinbases unique; //!< whose ids must differ for pairs to be found in any order
    const AggregateSalt& salt;    //!< what outpoints are named under
    JoinLog& log;
    const bool connected;          //!< see JoinOptions
    const std::atomic<bool>& stop; //!< asked to end early: keep what is done
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
    // In a join of values in its place.
    ShardedRecords<ValuedRecord> m_valued;
    std::vector<uint64_t> m_coins;                 //!< of what is listed: MadeCoin::Number()
    const std::unique_ptr<BlockAccount> m_account; //!< null: this is none
    const OutpointNamer m_namer;
    const std::unique_ptr<Aggregate> m_sum; //!< of a block; null: none is asked for
    OutpointList m_listed;                  //!< outputs of a block, or its inputs
};

} // namespace ibd
