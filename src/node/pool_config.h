// Options of the transaction pool and its policy, from command line and bitcoin.conf.
#pragma once

#include "mempool/policy.h"
#include "mempool/tx_pool.h"
#include "util/args.h"

namespace ibd {

// The options must have passed CheckParameters().

PolicyOptions ReadPolicy(const ArgsManager& args);
PoolLimits ReadPoolLimits(const ArgsManager& args);

} // namespace ibd
