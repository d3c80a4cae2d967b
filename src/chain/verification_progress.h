// How much of the chain a block stands for, estimated from the rate of transactions. Pure.
#pragma once

#include "consensus/params.h"

namespace ibd {

/** What the estimate depends on besides the network. Times are seconds since 1970. */
struct ProgressInput {
    uint64_t tx_count = 0; //!< transactions up to the block, with it; 0: not known
    int64_t block_time = 0;
    int64_t now = 0;
    int64_t blocks_above = -1; //!< up to the best header; below 0: no header is that high
};

/** From 0 to 1. A block of the last two hours counts as one target spacing old for each block above
 *  it, not as old as its miner says: the tip is 1 exactly, as callers wait for. */
double VerificationProgress(const ChainParams& params, const ProgressInput& input);

} // namespace ibd
