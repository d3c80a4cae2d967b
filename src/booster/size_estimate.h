// Estimates the bytes of missing blocks, for progress: from the network's parameters at first,
// later from the known blocks. Pure.
#pragma once

#include "booster/work_plan.h"

#include <cstddef>

namespace ibd {

/** Estimates from the network's parameters; 0: unknown. */
struct ExpectedBlocks {
    uint64_t usual_bytes = 0; //!< of a block
    double txs = 0;           //!< in the whole chain up to the last of the blocks
};

/** The known blocks, with their sizes. */
struct SeenBlocks {
    uint64_t blocks = 0;
    uint64_t bytes = 0;
    double txs = 0;
    double txs_elsewhere = 0; //!< in blocks that are also stored, but not among these
};

/** Bytes of `missing` blocks. */
uint64_t EstimateMissing(size_t missing, const ExpectedBlocks& expected, const SeenBlocks& seen);

} // namespace ibd
