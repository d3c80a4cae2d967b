// UndoPortions: from which input spends which output to the undo data of all blocks, a portion of
// the chain at a time: first the coins that its blocks make are fetched, then the records of its
// blocks are made. So only those coins lie on the disk for long that are spent in a later portion,
// and blocks are read a second time soon after the first. Called by UndoRebuild on its thread. A
// death costs a portion. Memory: as FetchPhase and UndoPhase, one at a time.
// See doc/develop/join.md.
#pragma once

#include "join/fetch_phase.h"
#include "join/join_state.h"
#include "join/join_threads.h"
#include "join/undo_phase.h"

namespace ibd {

class UndoPortions {
public:
    /** Spills from this number on are of the portion at hand, and of no use after a death. */
    static constexpr uint32_t kNearSpills = kPassingSpills;

    /** All must outlive it. `state`: kPaired; it goes on as saved. `first_spill`: no spill below
     *  kNearSpills with this number or above is in the directory. */
    UndoPortions(JoinJob& job, const UndoOptions& options, const BlockStore& store,
                 const BlockPlaces& places, JoinState& state, uint32_t first_spill,
                 UndoConsumer& consumer);

    /** Once. The lowest block that breaks a rule, if there is one. Bad data: a spill is damaged.
     *  Before the last height if the job was stopped. */
    Result<std::optional<BrokenRule>> Run();

    /** Of coins that were written, so far. */
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
