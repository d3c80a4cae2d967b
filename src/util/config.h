// What bitcoind and bitcoin-cli do alike at start: options of the data directory and network,
// bitcoin.conf, and where the network's files are.
#pragma once

#include "util/args.h"

namespace ibd {

/** -conf, -datadir, -includeconf, -help, -version and what chooses and changes a network. */
void AddCommonOptions(ArgsManager& args);
/** -help, -h, -? or -help-debug. */
bool HelpRequested(const ArgsManager& args);

struct DataPaths {
    Path original_base; //!< -datadir of the command line or the default
    Path base;          //!< the same, unless bitcoin.conf names another
    Path config;        //!< bitcoin.conf, which need not exist; empty with -noconf
    std::string chain;  //!< main, test, testnet4, signet, regtest
    std::string folder; //!< of the chain below `base`: "", testnet3, testnet4, signet, regtest
    uint16_t rpc_port;  //!< default of the chain
    Path Network() const { return folder.empty() ? base : base / folder; }
};

/** How the message of an error of bitcoin.conf begins. */
inline constexpr const char* kConfigFileError = "Error reading configuration file";

/** Reads bitcoin.conf (which may name another -datadir) and selects the network. Errors, in Core's
 *  words: a -datadir that does not exist, bad configuration, more than one network. */
Result<DataPaths> LoadConfiguration(Env& env, ArgsManager& args);

} // namespace ibd
