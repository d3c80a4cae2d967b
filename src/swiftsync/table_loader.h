// The fast loader: writes sorted LevelDB tables directly, each thread one range of keys at a time.
// See chainstate_loader.h for the task.
#pragma once

#include "swiftsync/load_task.h"

namespace ibd {

Result<LoadReport> LoadByTables(Env& env, const LoadTask& task);

} // namespace ibd
