// settings.json: options that a program wrote; they rank between command line and bitcoin.conf.
// Written again at each start, as Core does: a file that cannot be kept is told at once.
#pragma once

#include "util/args.h"

namespace ibd {

/** What the log is to say of the file. */
struct SettingsLog {
    std::vector<std::string> warnings; //!< "Ignoring unknown rw_settings value <name>"
    std::vector<std::string> lines;    //!< "Setting file arg: <name> = <JSON>"
};

/** Reads -settings (default settings.json in the network's directory) if it is there, and writes
 *  it. Errors are Core's, with details in further lines that begin with "- ". */
Result<SettingsLog> ReadSettingsFile(Env& env, ArgsManager& args, const Path& net_dir);

} // namespace ibd
