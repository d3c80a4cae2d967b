// Reads the options of the node from command line and bitcoin.conf, and checks them, once.
#pragma once

#include "node/node_options.h"
#include "util/args.h"
#include "util/config.h"

namespace ibd {

/** All options of bitcoind, except those of RPC and AddCommonOptions(). */
void AddNodeOptions(ArgsManager& args);

/** Path of the log file. */
Path LogPath(const ArgsManager& args, const Path& net_dir);

/** The parameters of the chosen network, modified by options. */
Result<ChainParams> ReadChainParams(const ArgsManager& args, const std::string& chain);

/** Reads options that passed CheckParameters(). Errors name the option and the allowed values.
 *  `net_dir`: folder of the network; `machine_memory`: bytes, for the default of -dbcache. */
Result<NodeOptions> ReadNodeOptions(const ArgsManager& args, const ChainParams& params,
                                    const Path& net_dir, uint64_t machine_memory);
/** "A 9000 MiB dbcache may be too large for a system memory of only 8000 MiB.", or nothing. */
std::string DbCacheWarning(const ArgsManager& args, uint64_t machine_memory);

} // namespace ibd
