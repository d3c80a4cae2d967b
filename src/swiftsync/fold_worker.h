// FoldWorker: one thread's share of a fold. Takes blocks from its source, checks and folds them,
// keeps a private aggregate and coin buffer, and at intervals turns both into an epoch for the
// committer. From a block that a first pass has checked, and that is unchanged, it takes only the
// coins. No data is shared or locked from block to block.
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

/** A worker's progress; written by the worker only, read by any thread. */
struct alignas(64) WorkerCounters {
    std::atomic<uint64_t> blocks = 0;
    std::atomic<uint64_t> outputs = 0;
    std::atomic<uint64_t> inputs = 0;
    std::atomic<uint64_t> bytes = 0;         //!< of blocks folded
    std::atomic<uint64_t> checked_bytes = 0; //!< of blocks that were checked but not folded
    std::atomic<uint64_t> coins = 0;
};

/** Shared by all workers; immutable but for the atomics. */
struct FoldContext {
    Env& env;
    const ChainParams& params;
    const BlockStore& blocks; //!< for undo data
    const Hints& hints;
    const FirstPass* const first; //!< null: blocks must be checked, and all outputs and inputs
                                  //!< summed
    const FoldRules rules;
    const BoosterOptions& options;
    const AggregateSalt salt;
    const UniqueCoinbases unique; //!< whose ids are collected for the final check
    const size_t buffer_bytes;    //!< for each worker's coins
    Committer& committer;
    std::atomic<uint32_t>& next_run;
    const std::vector<FoldObserver*> observers; //!< the observers whose Begin() returned true
    const std::atomic<bool>& stop; //!< request to end early; finished work is kept
};

class FoldWorker {
public:
    /** `number`: 0 to options.threads - 1; it also identifies the worker to the committer. */
    FoldWorker(const FoldContext& context, size_t number, WorkerCounters& counters);

    /** Folds until the source is empty, `stop` is set or an error occurs. Finished work goes to the
     *  committer unless a disk failed. The source must outlive the committer's work. */
    std::optional<FoldFailure> Run(BlockSource& source);

    /** Instead of Run(): folds a block that the first pass has checked and that is unchanged. */
    std::optional<FoldFailure> FoldKnown(const HeaderNode& node, PlainBlock& block);
    /** Call it after the last FoldKnown(): hands over the current epoch. */
    std::optional<FoldFailure> Finish();

private:
    std::optional<FoldFailure> Take(const SuppliedBlock& block);
    bool IsKnown(const SuppliedBlock& block);
    std::optional<FoldFailure> FoldOneKnown(const HeaderNode& node, PlainBlock& block,
                                            size_t block_bytes);
    std::optional<FoldFailure> FoldChecked(const HeaderNode& node, size_t block_bytes);
    std::optional<FoldFailure> ReadHints(const HeaderNode& node,
                                         std::span<const TxView> txs);
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
    const uint64_t m_epoch_bytes; //!< an epoch ends after this many bytes of blocks
    const int64_t m_epoch_micros; //!< or after this time
    WorkerCounters& m_counters;
    std::optional<FullValidation> m_full; //!< with -ibdboosterfullvalidation
    BlockTaker m_taker;
    PlainBlock m_known;              //!< a block that the first pass has checked
    std::vector<uint32_t> m_to_hash; //!< transactions of a known block
    BlockHints m_hints;
    BlockDelta m_delta;
    CoinBuffer m_coins;
    std::unique_ptr<Aggregate> m_sum;

    // The current epoch.
    FoldTotals m_totals;
    std::vector<uint32_t> m_heights;
    std::vector<CoinbaseId> m_coinbases;
    int64_t m_epoch_start;           //!< MonotonicMicros
    uint64_t m_look_at_clock_at = 0; //!< bytes of the epoch
};

} // namespace ibd
