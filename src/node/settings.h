// settings.json: options that a program wrote; they rank between command line and bitcoin.conf.
#pragma once

#include "util/args.h"

namespace ibd {

/** Reads -settings (default settings.json in the network's directory) if it is there. */
Result<> ReadSettingsFile(Env& env, ArgsManager& args, const Path& net_dir);

} // namespace ibd
