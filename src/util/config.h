// The common start of bitcoind and bitcoin-cli: options of the data directory and network,
// bitcoin.conf, and the places of the network's files.
#pragma once

#include "util/args.h"

namespace ibd {

/** -conf, -datadir, -includeconf, -help, -version and the options that choose or change a network.
 */
void AddCommonOptions(ArgsManager& args);
/** -help, -h, -? or -help-debug. */
bool HelpRequested(const ArgsManager& args);

struct DataPaths {
    Path original_base; //!< -datadir on the command line, or the default
    Path base;          //!< the same, unless bitcoin.conf names another
    Path config;        //!< bitcoin.conf, which need not exist; empty with -noconf
    std::string chain;  //!< main, test, testnet4, signet, regtest
    std::string folder; //!< of the chain below `base`: "", testnet3, testnet4, signet, regtest
    uint16_t rpc_port;  //!< default of the chain
    Path Network() const { return folder.empty() ? base : base / folder; }
};

/** Start of error messages about bitcoin.conf. */
inline constexpr const char* kConfigFileError = "Error reading configuration file";

/** Reads bitcoin.conf (which may name another -datadir) and selects the network. Errors, in Core's
 *  words: a missing -datadir, bad configuration, more than one network. */
Result<DataPaths> LoadConfiguration(Env& env, ArgsManager& args);

} // namespace ibd
