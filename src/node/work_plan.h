// What a sync consists of: steps with the seconds that each is expected to take, which are amounts
// times costs that were measured. OverallProgress corrects them as it goes.
#pragma once

#include "util/overall_progress.h"

namespace ibd {

/** Fewer bytes of blocks to connect are no step. */
constexpr uint64_t kLeastToConnect = 8'000'000;

struct WorkAmounts {
    uint64_t bytes = 0;   //!< of all blocks that the steps take
    uint64_t missing = 0; //!< of these, come from peers while the first step reads them
    uint64_t coins = 0;   //!< that are loaded; 0: not known yet
    uint64_t headers = 0; //!< that are waited for
    unsigned threads = 1;
    uint64_t above = 0;   //!< bytes of blocks that are connected at the end
    bool indexes = false; //!< the first step checks the blocks for the index, too
    bool scripts = false; //!< are run while undo data is written, else in the fold
    bool lacks_undo = true;
};

std::vector<PlannedStep> PlanOf(const std::vector<WorkStep>& steps, const WorkAmounts& amounts);

} // namespace ibd
