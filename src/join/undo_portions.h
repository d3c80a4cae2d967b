// UndoPortions: makes the undo data of all blocks from pairs of outputs and spending inputs, a
// portion of the chain at a time. It fetches the coins that the portion's blocks make, then makes
// the records of its blocks. Thus only coins spent in a later portion stay on disk for long, and a
// block's second read follows soon after its first. Called by UndoRebuild on its thread. A crash
// loses the work of one portion. Memory: as FetchPhase and UndoPhase, one at a time. See
// doc/develop/join.md.
#pragma once

#include "join/fetch_phase.h"
#include "join/join_state.h"
#include "join/join_threads.h"
#include "join/undo_phase.h"
#include "util/found.h"

namespace ibd {

class UndoPortions {
public:
    /** Spills with this number or a higher one belong to the current portion and are useless after
     *  a crash. */
    static constexpr uint32_t kNearSpills = kPassingSpills;

    /** All arguments must outlive it. `state`: kPaired; it is changed and saved as work goes on.
     *  `first_spill`: from this number up to kNearSpills no spill is in the directory. */
    UndoPortions(JoinJob& job, const UndoOptions& options, const BlockStore& store,
                 const BlockPlaces& places, JoinState& state, uint32_t first_spill,
                 UndoConsumer& consumer);

    /** Call once. Returns the lowest block that breaks a rule, if any. Bad data: a spill is
     *  damaged. Ends early if the job was stopped. */
    Found<BrokenRule> Run();

    /** Bytes of coins written so far. */
    uint64_t CoinBytes() const { return m_coin_bytes; }

private:
    Result<uint32_t> Begin();
    Result<std::vector<SpillInfo>> Fetch(HeightSpan portion);
    Result<> FetchBelow(uint32_t height);
    Result<> Keep(std::vector<SpillInfo> far, uint32_t fetched_to);
    uint32_t NextSpill() const { return std::max(m_first_spill, m_state.NextSpillNumber()); }

    JoinJob& m_job;
    const UndoOptions& m_options;
    JoinState& m_state;
    const uint32_t m_first_spill;
    const HeightRanges m_spending;
    FetchPhase m_fetch;
    UndoPhase m_records;
    JoinMeter m_meter;
    uint64_t m_coin_bytes = 0;
};

} // namespace ibd
