// FetchPhase: from which input spends which output to the coin that each input spends. The blocks
// are read once more, by ranges of those that make the outputs, on several threads, and each spent
// output is spilled by ranges of the blocks that spend it. Called by UndoRebuild on its thread. A
// kill costs this phase. Memory: JoinOptions::memory_bytes, and the blocks being parsed.
#pragma once

#include "join/join_job.h"
#include "join/span_blocks.h"
#include "join/span_records.h"
#include "join/spill_series.h"

namespace ibd {

class FetchPhase {
public:
    /** All must outlive it. `state`: kPaired. `first_spill`: the number of the first spill of
     *  coins; none from there on is in the directory. `first_spent`: coins that are spent in
     *  blocks below are not wanted. */
    FetchPhase(JoinJob& job, const BlockStore& store, const BlockPlaces& places,
               const JoinState& state, uint32_t first_spill, uint32_t first_spent = 0);

    /** Once. The spills of coins, durable; nothing if the job was stopped. Bad data: a spill of
     *  pairs is damaged. */
    Result<std::optional<std::vector<SpillInfo>>> Run();

private:
    class Worker;
    Result<> Work(const SpillReader& pairs);

    JoinJob& m_job;
    const BlockStore& m_store;
    const BlockPlaces& m_places;
    const JoinState& m_state;
    const uint32_t m_first_spent;
    const HeightRanges m_making;
    const HeightRanges m_spending;
    SpillSeries m_coins;
    std::atomic<uint32_t> m_next = 0; //!< range that nobody has claimed
};

} // namespace ibd
