// FetchPhase: reads the coins that inputs spend, given the pairs of outputs and spending inputs.
// Several threads read the blocks once more, by ranges of the blocks that make the outputs. Each
// spent output goes to a sink, by ranges of the blocks that spend it. Owned by the code that
// rebuilds undo data, for all portions of the chain in turn; one thread. Memory:
// JoinOptions::memory_bytes, and the blocks being parsed.
#pragma once

#include "join/join_job.h"
#include "join/span_blocks.h"
#include "join/span_records.h"
#include "join/undo_options.h"
#include "util/found.h"

namespace ibd {

class JoinMeter;

/** The wanted coins, and the sink for them. */
struct FetchTask {
    HeightSpan made;  //!< coins made in these blocks
    HeightSpan spent; //!< and spent in these
    PageSink& coins;  //!< by JoinState::SpendingRanges(); complete when the phase is finished
    OutlineUse outlines = OutlineUse::kNone; //!< also written, for the blocks that are read
    SideFold* side_fold = nullptr;           //!< also receives these blocks; may be null
};

class FetchPhase {
public:
    /** All arguments must outlive it. `state`: of phase kPaired; its pairs must not be removed. */
    FetchPhase(JoinJob& job, const BlockStore& store, const BlockPlaces& places,
               const JoinState& state);

    /** False: the job was stopped. Bad data: a spill of pairs is damaged. */
    Result<bool> Run(const FetchTask& task, JoinMeter& meter);
    /** Runs alone, with a progress meter; the spills are numbered from `first_spill`. Nothing: the
     *  job was stopped. */
    Found<std::vector<SpillInfo>> RunAlone(HeightSpan made, HeightSpan spent, uint32_t first_spill,
                                           SpillUse use);

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
    std::atomic<uint32_t> m_next{0};  //!< next range that no worker has claimed
    std::atomic<size_t> m_workers{0}; //!< of the current task
};

} // namespace ibd
