// Estimate of the bytes of blocks that are still to come, for progress: by the network's parameters
// at first, then by the known blocks. Pure.
#pragma once

#include "booster/work_plan.h"

#include <cstddef>

namespace ibd {

/** What the network's parameters say about blocks that are to come; 0: nothing. */
struct ExpectedBlocks {
    uint64_t usual_bytes = 0; //!< of a block
    double txs = 0;           //!< in the whole chain up to the last of the blocks
};

/** The known blocks, with their sizes. */
struct SeenBlocks {
    uint64_t blocks = 0;
    uint64_t bytes = 0;
    double txs = 0;
    double txs_elsewhere = 0; //!< in blocks that are there, too, but not among these
};

/** Bytes of `missing` blocks. */
uint64_t EstimateMissing(size_t missing, const ExpectedBlocks& expected, const SeenBlocks& seen);

} // namespace ibd
