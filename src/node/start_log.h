// The lines of debug.log on how the chain is brought up, in Bitcoin Core's words: people and
// scripts look for them.
#pragma once

#include "node/options.h"
#include "util/log.h"
#include "validation/chain_manager.h"

namespace ibd {

/** How -dbcache is divided; -maxmempool too small for a cluster is an error, as with Core. */
Result<> LogCaches(const ArgsManager& args, const CacheSizes& cache, Logger& log);
/** What is taken on trust. */
void LogTrust(const NodeOptions& options, const ChainParams& params, Logger& log);
/** The chain as it is when the node is up. */
void LogChain(const ChainManager& chain, Logger& log);

} // namespace ibd
