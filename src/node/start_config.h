// StartConfig: what a start is told by the command line, bitcoin.conf and settings.json, and the
// folders that it needs. Read by main before anything else happens.
#pragma once

#include "consensus/params.h"
#include "node/settings.h"
#include "util/config.h"
#include "util/log.h"

namespace ibd {

struct StartConfig {
    DataPaths paths;
    ChainParams params;
    SettingsLog settings;
    std::string ignored; //!< a line on a bitcoin.conf that does not count
};

/** Reads the configuration, makes the network's folder if it is not there (with `wallets` in a new
 *  one, where Core looks for them), and writes settings.json. Errors in Core's words. */
Result<StartConfig> InitConfig(Env& env, ArgsManager& args);

/** What the log says of the configuration: first what is odd, before the log's first line. */
void LogConfigOddities(const ArgsManager& args, const StartConfig& config, Logger& log);
/** Which directory and files, and every option that was set. */
void LogConfig(Env& env, const ArgsManager& args, const StartConfig& config, Logger& log);

} // namespace ibd
