// Plan of a sync: its steps with their expected seconds, which are amounts times measured costs.
// OverallProgress corrects them during the sync.
#pragma once

#include "util/overall_progress.h"

namespace ibd {

/** Connecting blocks is a step of its own from this many bytes on. */
constexpr uint64_t kLeastToConnect = 8'000'000;
/** No progress is shown for at most this many missing blocks above the tip. */
constexpr size_t kFewMissing = 144;
/** Assumed block size on networks without known figures, before any block is received. It is low,
 *  because real sizes correct a low estimate sooner than a high one. */
constexpr uint64_t kGuessedBlockBytes = 10'000;

struct WorkAmounts {
    uint64_t bytes = 0;   //!< of all blocks that the steps read
    uint64_t missing = 0; //!< part of `bytes` that is downloaded during the first step
    uint64_t coins = 0;   //!< to be loaded; 0: not known yet
    uint64_t headers = 0; //!< still to come
    unsigned threads = 1;
    uint64_t above = 0;   //!< bytes of blocks to be connected at the end
    uint64_t above_missing = 0; //!< part of `above` that is downloaded
    bool indexes = false; //!< the first step checks the blocks for the index, too
    bool scripts = false; //!< scripts are verified while undo data is written; else in the fold
    bool lacks_undo = true;
    /** Bytes of the last blocks, if undo data is written only for these after the load. */
    uint64_t last_undo = 0;
};

/** Reading the block headers of all block files, before the blocks are read for the index. */
PlannedStep SurveyStep(uint64_t bytes);
std::vector<PlannedStep> PlanOf(const std::vector<WorkStep>& steps, const WorkAmounts& amounts);

} // namespace ibd
