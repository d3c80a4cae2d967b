// settings.json: options written by a program; in precedence they are between command line and
// bitcoin.conf. As in Core, it is written again at each start, so that an unwritable file is
// reported at once.
#pragma once

#include "util/args.h"

namespace ibd {

/** Log lines about the file. */
struct SettingsLog {
    std::vector<std::string> warnings; //!< "Ignoring unknown rw_settings value <name>"
    std::vector<std::string> lines;    //!< "Setting file arg: <name> = <JSON>"
};

/** Reads -settings (default: settings.json in the network's directory) if it exists, and writes it.
 *  Errors are Core's, with details in further lines that begin with "- ". */
Result<SettingsLog> ReadSettingsFile(Env& env, ArgsManager& args, const Path& net_dir);

} // namespace ibd
