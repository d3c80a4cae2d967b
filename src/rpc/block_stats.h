// The figures of getblockstats. Pure; any thread.
#pragma once

#include "rpc/chain_context.h"

namespace ibd {

/** All figures in Core's order. `block` has its undo data. */
UniValue ComputeBlockStats(const BlockData& block, const HeaderNode& node,
                           const ChainParams& params);

/** The figures named in the array, in alphabetical order; all if it is null or empty. -8 for an
 *  unknown name. */
UniValue SelectBlockStats(const UniValue& all, const UniValue& names);

} // namespace ibd
