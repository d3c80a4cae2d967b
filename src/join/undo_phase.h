// UndoPhase: from the coins that inputs spend to the undo data of each block, in the order of the
// chain, by ranges, on several threads. A block is held against the rules with its coins: by the
// outline that came with these, or else it is read once more. Called by UndoRebuild on its thread.
// Memory: JoinOptions::memory_bytes, the blocks being parsed, and kMaxGiantUndoBytes for one block
// whose coins do not fit.
#pragma once

#include "join/join_job.h"
#include "join/span_blocks.h"
#include "join/span_records.h"
#include "join/undo_handover.h"

namespace ibd {

class JoinMeter;

class UndoPhase {
public:
    /** All must outlive it. */
    UndoPhase(JoinJob& job, const UndoOptions& options, const BlockStore& store,
              const BlockPlaces& places, const JoinState& state, UndoConsumer& consumer);

    /** Of the blocks of some of JoinState::SpendingRanges(), which `coins` are spent in among
     *  others. The lowest that breaks a rule, if there is one. Bad data: a spill of coins is
     *  damaged. Before the last height if the job was stopped. */
    Result<std::optional<BrokenRule>> Run(RangeSpan ranges, std::span<const SpillInfo> coins,
                                          JoinMeter& meter);

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
    std::atomic<uint32_t> m_next{0}; //!< range that nobody has claimed
};

} // namespace ibd
