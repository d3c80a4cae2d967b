// UndoPhase: makes the undo data of each block, in the order of the chain, from the coins that
// inputs spend; by ranges, on several threads. The rules are checked with the outline stored beside
// a block's coins, if it suffices; else the block is read once more. Called by UndoRebuild on its
// thread. Memory: JoinOptions::memory_bytes, the blocks being parsed, and kMaxOversizedUndoBytes
// for one block whose coins do not fit.
#pragma once

#include "join/join_job.h"
#include "join/span_blocks.h"
#include "join/span_records.h"
#include "join/undo_handover.h"
#include "util/found.h"

namespace ibd {

class JoinMeter;

class UndoPhase {
public:
    /** All arguments must outlive it. */
    UndoPhase(JoinJob& job, const UndoOptions& options, const BlockStore& store,
              const BlockPlaces& places, const JoinState& state, UndoConsumer& consumer);

    /** Makes the undo data of the blocks of some of JoinState::SpendingRanges(); `coins` contain
     *  all coins that they spend. Returns the lowest block that breaks a rule, if any. Bad data: a
     *  spill of coins is damaged. Ends early if the job was stopped. */
    Found<BrokenRule> Run(RangeSpan ranges, std::span<const SpillInfo> coins, JoinMeter& meter);

private:
    class Worker;
    Result<> Work(const SpillReader& coins, uint32_t end);

    JoinJob& m_job;
    const UndoOptions& m_options;
    const BlockStore& m_store;
    const BlockPlaces& m_places;
    const JoinState& m_state;
    const HeightRanges m_spending;
    UndoHandover m_handover;
    std::atomic<uint32_t> m_next{0}; //!< next range that no worker has claimed
};

} // namespace ibd
