// FoldWorker: one thread's share of the work. Takes blocks from its source, checks and folds them,
// keeps a private aggregate and coin buffer, and now and then turns both into an epoch for the
// committer. Of a block that a first pass has checked, and that is known to be still the same, it
// takes the coins alone. Nothing on the way from block to block is shared or locked.
#pragma once

#include "primitives/plain_block.h"
#include "swiftsync/block_taker.h"
#include "swiftsync/committer.h"
#include "swiftsync/first_pass.h"
#include "swiftsync/fold_observer.h"
#include "swiftsync/full_validation.h"
#include "swiftsync/sync_options.h"
#include "swiftsync/terminal.h"

namespace ibd {

/** What a worker has done, for progress; written by it alone, read by anyone. */
struct alignas(64) WorkerCounters {
    std::atomic<uint64_t> blocks = 0;
    std::atomic<uint64_t> outputs = 0;
    std::atomic<uint64_t> inputs = 0;
    std::atomic<uint64_t> bytes = 0;         //!< of blocks folded
    std::atomic<uint64_t> checked_bytes = 0; //!< of blocks that were only checked
    std::atomic<uint64_t> coins = 0;
};

/** What all workers share; immutable but for the atomics. */
struct FoldContext {
    Env& env;
    const ChainParams& params;
    const BlockStore& blocks; //!< for undo data
    const Hints& hints;
    const FirstPass* const first; //!< null: blocks are yet to be checked, and all of them summed
    const FoldRules rules;
    const BoosterOptions& options;
    const AggregateSalt salt;
    const UniqueCoinbases unique; //!< whose ids are collected for the terminal check
    const size_t buffer_bytes;    //!< for each worker's coins
    Committer& committer;
    std::atomic<uint32_t>& next_run;
    FoldObserver* const observer;  //!< null: nobody
    const std::atomic<bool>& stop; //!< asked to end early: keep what is done
};

class FoldWorker {
public:
    /** `number`: 0 to options.threads - 1, to the committer. */
    FoldWorker(const FoldContext& context, size_t number, WorkerCounters& counters);

    /** Folds until the source is empty, `stop` is set or something fails. What was done before is
     *  handed to the committer in every case but a failed disk. The source must outlive the
     *  committer's work. */
    std::optional<FoldFailure> Run(BlockSource& source);

    /** In place of Run(): folds a block that the first pass has checked and that is still the same,
     *  whoever has read it. */
    std::optional<FoldFailure> FoldKnown(const HeaderNode& node, PlainBlock& block);
    /** After the last of these: hands over the epoch under way. */
    std::optional<FoldFailure> Finish();

private:
    std::optional<FoldFailure> Take(const SuppliedBlock& block);
    bool IsKnown(const SuppliedBlock& block);
    std::optional<FoldFailure> FoldOneKnown(const HeaderNode& node, PlainBlock& block,
                                            size_t block_bytes);
    std::optional<FoldFailure> FoldChecked(const HeaderNode& node, size_t block_bytes);
    std::optional<FoldFailure> ReadHints(const HeaderNode& node);
    void ComputeIds(uint32_t height, PlainBlock& block);
    BlockTaker::OtherCheck MakeFullCheck();
    bool CollectsCoinbase(uint32_t height) const;
    Result<> Account(uint32_t height, const TxView& coinbase, size_t block_bytes);
    bool EpochIsDue();
    std::optional<FoldFailure> SpillIfDue();
    Result<> Spill();

    const FoldContext& m_context;
    BlockSource* m_source = nullptr; //!< of Run()
    const size_t m_number;
    const uint64_t m_epoch_bytes; //!< an epoch ends after so many bytes of blocks
    const int64_t m_epoch_micros; //!< or after so long
    WorkerCounters& m_counters;
    std::optional<FullValidation> m_full; //!< with -ibdboosterfullvalidation
    BlockTaker m_taker;
    PlainBlock m_known;              //!< a block that the first pass has checked
    std::vector<uint32_t> m_to_hash; //!< transactions of a known block
    BlockHints m_hints;
    BlockDelta m_delta;
    CoinBuffer m_coins;
    std::unique_ptr<Aggregate> m_sum;

    // The epoch under way.
    FoldTotals m_totals;
    std::vector<uint32_t> m_heights;
    std::vector<CoinbaseId> m_coinbases;
    int64_t m_epoch_start;           //!< MonotonicMicros
    uint64_t m_look_at_clock_at = 0; //!< bytes of the epoch
};

} // namespace ibd
