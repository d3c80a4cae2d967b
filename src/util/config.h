// What bitcoind and bitcoin-cli do alike at start: options of the data directory and network,
// bitcoin.conf, and where the network's files are.
#pragma once

#include "util/args.h"

namespace ibd {

/** -conf, -datadir, -includeconf, -chain, -regtest, -signet, -testnet, -testnet4, -help, -version
 *  and -signetchallenge. */
void AddCommonOptions(ArgsManager& args);

struct DataPaths {
    Path base;          //!< -datadir or the default
    Path config;        //!< bitcoin.conf, which need not exist; not read with -noconf
    std::string chain;  //!< main, test, testnet4, signet, regtest
    std::string folder; //!< of the chain below `base`: "", testnet3, testnet4, signet, regtest
    uint16_t rpc_port;  //!< default of the chain
    Path Network() const { return folder.empty() ? base : base / folder; }
};

/** One line on a bitcoin.conf in the data directory that does not count, as another file does;
 *  empty if there is none, or -noconf says that it should not count. */
std::string IgnoredConfig(Env& env, const ArgsManager& args, const DataPaths& paths);
/** One line on options that stand outside of the network's section, where they do not count;
 *  empty if there are none. */
std::string MisplacedOptions(const ArgsManager& args, const DataPaths& paths);

/** Reads bitcoin.conf (which may name another -datadir) and selects the network. Errors: a
 *  -datadir that does not exist, bad configuration, more than one network. */
Result<DataPaths> LoadConfiguration(Env& env, ArgsManager& args);

} // namespace ibd
