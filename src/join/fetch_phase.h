// FetchPhase: from which input spends which output to the coin that each input spends. Blocks are
// read once more, by ranges of those that make the outputs, on several threads, and each spent
// output goes to a sink by ranges of the blocks that spend it. Owned by who rebuilds undo data, for
// one portion of the chain after the other; its thread. Memory: JoinOptions::memory_bytes, and the
// blocks being parsed.
#pragma once

#include "join/join_job.h"
#include "join/span_blocks.h"
#include "join/span_records.h"
#include "join/undo_options.h"

namespace ibd {

class JoinMeter;

/** Which coins are wanted, and where they go. */
struct FetchTask {
    HeightSpan made;  //!< in these blocks
    HeightSpan spent; //!< and in these
    PageSink& coins;  //!< by JoinState::SpendingRanges(); complete when it is finished
    OutlineUse outlines = OutlineUse::kNone; //!< besides, of the blocks that are read
    SideFold* side_fold = nullptr;           //!< is given these blocks; null: nobody
};

class FetchPhase {
public:
    /** All must outlive it. `state`: kPaired, and its pairs stay. */
    FetchPhase(JoinJob& job, const BlockStore& store, const BlockPlaces& places,
               const JoinState& state);

    /** False: the job was stopped. Bad data: a spill of pairs is damaged. */
    Result<bool> Run(const FetchTask& task, JoinMeter& meter);
    /** Likewise as a phase of its own, with its meter, to spills from a number on. Nothing: the job
     *  was stopped. */
    Result<std::optional<std::vector<SpillInfo>>> RunAlone(HeightSpan made, HeightSpan spent,
                                                           uint32_t first_spill, SpillUse use);

private:
    class Worker;
    Result<> Work(const FetchTask& task, uint32_t end);

    JoinJob& m_job;
    const BlockStore& m_store;
    const BlockPlaces& m_places;
    const JoinState& m_state;
    const HeightRanges m_making;
    const HeightRanges m_spending;
    std::optional<SpillReader> m_pairs;
    std::atomic<uint32_t> m_next{0};  //!< range that nobody has claimed
    std::atomic<size_t> m_workers{0}; //!< of the task at hand
};

} // namespace ibd
