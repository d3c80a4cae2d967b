// The folder chainstate_snapshot of a data directory: the coins of a UTXO snapshot and of the
// blocks above its base, as Core lays it out: a chainstate with a file base_blockhash. Main thread.
#pragma once

#include "primitives/block.h"
#include "storage/data_dir.h"
#include "util/found.h"
#include "util/log.h"

namespace ibd {

Path SnapshotFolder(const DataDir& dir);

/** The block of the snapshot in use; nothing: none is. A folder without the hash of its block is
 *  passed over and logged, as Core does. */
Found<BlockHash> FindSnapshot(Env& env, Logger& log, const DataDir& dir);

/** Makes `folder` the chainstate of a snapshot of that block. */
Result<> WriteSnapshotBase(Env& env, const Path& folder, const BlockHash& base);

/** Whether what lies at the folder's place, if anything, is a chainstate that may be replaced.
 *  Otherwise the error names the obstacle. */
Result<> CheckSnapshotFolder(Env& env, const DataDir& dir);

/** For a rebuild of the chainstate: removes that of a snapshot, if there is one, as Core's does. An
 *  error, before anything is removed, if the folder holds a file of someone else. */
Result<> RemoveSnapshot(Env& env, Logger& log, const DataDir& dir);

/** The coins of a snapshot are proven: its folder takes the place of the chainstate, which is
 *  removed. Neither is open. After a crash the next start finds both as they were, or it done. */
Result<> PromoteSnapshot(Env& env, Logger& log, const DataDir& dir);

/** The coins of a snapshot are wrong: its folder is kept under another name, as Core does, so that
 *  no start uses it. If the name is taken by an earlier one, it is removed. It is not open. */
Result<> PutSnapshotAside(Env& env, Logger& log, const DataDir& dir);

/** Checks the permission to make and remove files in a database's folder, if there is one. After a
 *  kill LevelDB removes such a file. */
Result<> CheckDbFolder(Env& env, const Path& folder);

} // namespace ibd
