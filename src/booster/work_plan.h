// Plan of a sync: its steps with their expected seconds, which are amounts times measured costs.
// OverallProgress corrects them during the sync.
#pragma once

#include "util/overall_progress.h"

namespace ibd {

/** Least bytes of blocks to connect for a step of its own. */
constexpr uint64_t kLeastToConnect = 8'000'000;
/** Most missing blocks above the tip for which no progress is shown. */
constexpr size_t kFewMissing = 144;
/** Size of a block on networks without known figures, before any block has come: a low one, since
 *  real figures correct it sooner than a high one. */
constexpr uint64_t kGuessedBlockBytes = 10'000;

struct WorkAmounts {
    uint64_t bytes = 0;   //!< of all blocks that the steps read
    uint64_t missing = 0; //!< part of `bytes` that peers send while the first step reads
    uint64_t coins = 0;   //!< to be loaded; 0: not known yet
    uint64_t headers = 0; //!< still to come
    unsigned threads = 1;
    uint64_t above = 0;   //!< bytes of blocks to be connected at the end
    uint64_t above_missing = 0; //!< part of `above` that peers send
    bool indexes = false; //!< the first step checks the blocks for the index, too
    bool scripts = false; //!< scripts are verified while undo data is written; else in the fold
    bool lacks_undo = true;
    /** Bytes of the last blocks, if undo data is written of these alone after the load. */
    uint64_t last_undo = 0;
};

/** Reading the block headers of all block files, before the blocks are read for the index. */
PlannedStep SurveyStep(uint64_t bytes);
std::vector<PlannedStep> PlanOf(const std::vector<WorkStep>& steps, const WorkAmounts& amounts);

} // namespace ibd
