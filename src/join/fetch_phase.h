// FetchPhase: from which input spends which output to the coin that each input spends. Blocks are
// read once more, by ranges of those that make the outputs, on several threads, and each spent
// output goes to a sink by ranges of the blocks that spend it. Called by UndoRebuild on its thread.
// Memory: JoinOptions::memory_bytes, and the blocks being parsed.
#pragma once

#include "join/join_job.h"
#include "join/span_blocks.h"
#include "join/span_records.h"

namespace ibd {

class JoinMeter;

/** Which coins are wanted, and where they go. */
struct FetchTask {
    HeightSpan made;  //!< in these blocks
    HeightSpan spent; //!< and in these
    PageSink& coins;  //!< by JoinState::SpendingRanges(); complete when it is finished
};

class FetchPhase {
public:
    /** All must outlive it. `state`: kPaired. */
    FetchPhase(JoinJob& job, const BlockStore& store, const BlockPlaces& places,
               const JoinState& state, const FetchTask& task);

    /** Once. False: the job was stopped. Bad data: a spill of pairs is damaged. */
    Result<bool> Run(JoinMeter& meter);

private:
    class Worker;
    Result<> Work(const SpillReader& pairs);

    JoinJob& m_job;
    const BlockStore& m_store;
    const BlockPlaces& m_places;
    const JoinState& m_state;
    const FetchTask m_task;
    const HeightRanges m_making;
    const HeightRanges m_spending;
    const uint32_t m_end;         //!< of the ranges of blocks that make the coins
    std::atomic<uint32_t> m_next; //!< range that nobody has claimed
};

} // namespace ibd
