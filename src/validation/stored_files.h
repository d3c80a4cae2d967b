// What a start looks at before it takes a data directory as it is, or rebuilds from it: block files
// against the index. Main thread.
#pragma once

#include "storage/data_dir.h"
#include "validation/chain_view.h"

namespace ibd {

/** Before -reindex removes anything: what it will read and write can be opened, and what it will
 *  remove can be removed; what only looks like a block file is named in the log. */
Result<> LookBeforeReindex(Env& env, Logger& log, const DataDir& dir);

/** An error if block files lack what the index says is in them. Undo files are only warned of: they
 *  are needed for a reorganisation alone. */
Result<> CheckStoredFiles(Env& env, Logger& log, const ChainView& chain,
                          const BlockStore& blocks, const Path& blocks_dir);

} // namespace ibd
