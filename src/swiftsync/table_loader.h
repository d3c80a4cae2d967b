// The loader's fast twin: sorted LevelDB tables written directly, one range of keys per thread at a
// time. See chainstate_loader.h for the task.
#pragma once

#include "swiftsync/load_task.h"

namespace ibd {

Result<LoadReport> LoadByTables(Env& env, const LoadTask& task);

} // namespace ibd
