// What command line and bitcoin.conf ask of the pool of transactions and its policy.
#pragma once

#include "mempool/policy.h"
#include "mempool/tx_pool.h"
#include "util/args.h"

namespace ibd {

// Of options that passed CheckParameters().

PolicyOptions ReadPolicy(const ArgsManager& args);
PoolLimits ReadPoolLimits(const ArgsManager& args);

} // namespace ibd
