// The loader's fast twin: sorted LevelDB tables written directly, one range of keys per thread at a
// time. See chainstate_loader.h for the task.
#pragma once

#include "swiftsync/chainstate_loader.h"

namespace ibd {

Result<LoadReport> LoadByTables(Env& env, Logger& log, const LoadTask& task);

/** The reason when an outpoint comes twice. */
std::string DuplicateCoin(const OutPoint& outpoint);

} // namespace ibd
