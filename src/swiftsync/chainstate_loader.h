// LoadChainstate: turns the runs of an accepted sync into a complete, durable chainstate beside the
// old one, in key order and written once. storage's ReplaceDb() then puts it in place.
// Called by the engine on its thread; the table loader starts threads for the time of the call.
// Memory: `memory_bytes`, at least one page (32 KiB) for each run.
#pragma once

#include "swiftsync/load_task.h"
#include "util/log.h"

namespace ibd {

/** Writes and syncs the chainstate; its best block is written last. After a duplicate coin or an
 *  interruption no file is left; after an error, files that the next call or RecoverDb()
 *  removes. */
Result<LoadReport> LoadChainstate(Env& env, Logger& log, const LoadTask& task);

} // namespace ibd
