// StartConfig: the configuration of a start, from command line, bitcoin.conf and settings.json, and
// its folders. The program reads it before all else.
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

/** Reads the configuration, makes missing folders for data and for the network (each with a folder
 *  `wallets`, which Core expects), and writes settings.json. Errors in Core's words. */
Result<StartConfig> InitConfig(Env& env, ArgsManager& args);

/** Logs suspicious configuration. Call it before the version is logged. */
void LogConfigOddities(const ArgsManager& args, const StartConfig& config, Logger& log);
/** Logs the directory, the files, and every option that is set. */
void LogConfig(Env& env, const ArgsManager& args, const StartConfig& config, Logger& log);

} // namespace ibd
