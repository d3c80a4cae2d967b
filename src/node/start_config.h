// StartConfig: the configuration of a start, from command line, bitcoin.conf and settings.json, and
// its folders. Read by main first.
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
    std::string ignored; //!< message about an ignored bitcoin.conf
};

/** Reads the configuration, makes the network's folder if it is missing (a new one with `wallets`,
 *  where Core expects them), and writes settings.json. Errors in Core's words. */
Result<StartConfig> InitConfig(Env& env, ArgsManager& args);

/** Logs suspicious configuration, before the log's first line. */
void LogConfigOddities(const ArgsManager& args, const StartConfig& config, Logger& log);
/** Logs the directory, the files, and every option that is set. */
void LogConfig(Env& env, const ArgsManager& args, const StartConfig& config, Logger& log);

} // namespace ibd
