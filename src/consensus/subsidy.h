// New coins of a block. Pure; any thread.
#pragma once

#include "consensus/params.h"

namespace ibd {

/** 50 BTC, halved each subsidy_halving_interval blocks, 0 after 64 halvings. */
Amount BlockSubsidy(int height, const ConsensusParams& params);

/** Sum of the subsidies of blocks 1..height: the genesis coinbase is not spendable. The upper bound
 *  of the coins' value at `height`. */
Amount MaxSupply(int height, const ConsensusParams& params);

} // namespace ibd
