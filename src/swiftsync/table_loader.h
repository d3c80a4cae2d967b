// The loader's fast twin: sorted LevelDB tables written directly, one range of keys per thread at a
// time. See chainstate_loader.h for the task.
#pragma once

#include "swiftsync/chainstate_loader.h"

namespace ibd {

Result<LoadReport> LoadByTables(Env& env, const LoadTask& task);

/** The outpoint of a record. */
OutPoint OutPointOf(const CoinRecord& record);
/** The reason when an outpoint comes twice. */
std::string DuplicateCoin(const OutPoint& outpoint);

} // namespace ibd
