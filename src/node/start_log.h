// The lines of debug.log about the start of the chain, in Bitcoin Core's words: people and scripts
// search for them.
#pragma once

#include "node/options.h"
#include "util/log.h"
#include "validation/chain_view.h"

namespace ibd {

/** Logs -vbparams, which passed ReadChainParams(). */
void LogDeployments(const ArgsManager& args, Logger& log);
/** Logs a minimum rate of transactions that follows from another option. */
void LogRelayFee(const ArgsManager& args, const PolicyOptions& policy, Logger& log);
/** Logs the division of -dbcache; a -maxmempool below a cluster's size is an error, as in Core. */
Result<> LogCaches(const ArgsManager& args, const NodeOptions& options, Logger& log);
/** Logs the trusted data. */
void LogTrust(const NodeOptions& options, const ChainParams& params, Logger& log);
/** Logs the chain when the node is up. */
void LogChain(const ChainView& chain, Logger& log);

} // namespace ibd
