// The floor: the least that any program must do to follow a chain from block files - read them,
// parse, compute ids and merkle roots, and one compression for each output and each input - with
// the same kernels and the same read path as the booster. The reference for measurements of the
// booster.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_store.h"

namespace ibd::bench {

struct FloorResult {
    uint64_t blocks = 0;
    uint64_t outputs = 0;
    uint64_t inputs = 0;
    uint64_t bytes = 0;
    uint8_t check = 0; //!< of all digests, so that no work can be left out
};

Result<FloorResult> RunFloor(Env& env, const BlockStore& store, const HeaderNode& tip,
                             unsigned threads);

/** CPU seconds of one pass of wtxids over all blocks, read and parsed beforehand. */
Result<double> TimeWitnessHashes(Env& env, const BlockStore& store, const HeaderNode& tip);

} // namespace ibd::bench
