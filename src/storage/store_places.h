// The places of the stores that may be outside of the data directory: chainstate (-chainstatedir)
// and indexes (-indexdir). Main thread.
#pragma once

#include "storage/data_dir.h"
#include "util/log.h"

namespace ibd {

/** Logs which stores are where Bitcoin Core does not look for them. */
void LogStorePlaces(Logger& log, const DataDir& dir);

} // namespace ibd
