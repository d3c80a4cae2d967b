// Estimated share of the chain up to a block, from the rate of transactions. Pure.
#pragma once

#include "consensus/params.h"

namespace ibd {

/** Input of the estimate besides the network. Times are seconds since 1970. */
struct ProgressInput {
    uint64_t tx_count = 0; //!< transactions up to and including the block; 0: unknown
    int64_t block_time = 0;
    int64_t now = 0;
    int64_t blocks_above = -1; //!< up to the best header; negative: no header is that high
};

/** From 0 to 1. For a block of the last two hours its age is one target spacing for each block
 *  above it, not taken from the header's time: so the tip gives exactly 1, for which callers wait.
 */
double VerificationProgress(const ChainParams& params, const ProgressInput& input);

/** Estimated transactions of the network's chain up to a block of this time (seconds since 1970);
 *  0: the network has no figures. */
double EstimatedTxs(const ChainParams& params, int64_t block_time);

} // namespace ibd
