// Checks at start-up, before a data directory is used or rebuilt from: block files against the
// index. Main thread.
#pragma once

#include "storage/data_dir.h"
#include "validation/chain_view.h"

namespace ibd {

/** Checks, before -reindex removes anything, that it can open all files to be read or written, and
 *  remove all files to be removed. Names that only resemble block files are logged. */
Result<> LookBeforeReindex(Env& env, Logger& log, const DataDir& dir, bool prunes);

/** An error if block files lack data that the index names. Missing undo files only cause a warning,
 *  as only a reorganisation needs them. */
Result<> CheckStoredFiles(Env& env, Logger& log, const ChainView& chain,
                          const BlockStore& blocks, const Path& blocks_dir);

} // namespace ibd
