// The folder chainstate_snapshot of a data directory: the coins of a UTXO snapshot and of the
// blocks above its base, as Core lays it out: a chainstate with a file base_blockhash. Main thread.
#pragma once

#include "primitives/block.h"
#include "storage/data_dir.h"
#include "util/found.h"
#include "util/log.h"

namespace ibd {

Path SnapshotFolder(const DataDir& dir);

/** The block of the snapshot in use; nothing: there is none. A folder without the hash of its block
 *  is ignored and logged, as in Core. */
Found<BlockHash> FindSnapshot(Env& env, Logger& log, const DataDir& dir);

/** Makes `folder` the chainstate of a snapshot of that block. */
Result<> WriteSnapshotBase(Env& env, const Path& folder, const BlockHash& base);

/** Checks that a file or folder at this path, if any, is a chainstate that may be replaced;
 *  otherwise the error names the obstacle. */
Result<> CheckSnapshotFolder(Env& env, const DataDir& dir);

/** For a rebuild of the chainstate: removes the chainstate of a snapshot, if there is one, as Core
 *  does. If the folder contains a foreign file, it fails and removes nothing. */
Result<> RemoveSnapshot(Env& env, Logger& log, const DataDir& dir);

/** Whether the folder of a snapshot can be moved to the place of the chainstate: both must be on
 *  one disk and mount, also if `chainstate` is a link, and no foreign folder may be in the way. */
Result<> CheckSnapshotCanTakeOver(Env& env, const DataDir& dir);

/** Call it when the coins of a snapshot are proven: removes the chainstate and moves the snapshot's
 *  folder to its place. Neither may be open. After a crash the next start finds the old state or
 *  the new one. */
Result<> PromoteSnapshot(Env& env, Logger& log, const DataDir& dir);

/** Call it when the coins of a snapshot are wrong: renames the folder, as Core does, so that no
 *  start uses it. If that name exists from an earlier snapshot, the folder is removed. It must not
 *  be open. */
Result<> PutSnapshotAside(Env& env, Logger& log, const DataDir& dir);

/** Checks the permission to make and remove files in a database's folder, if there is one. After a
 *  kill LevelDB removes such a file. */
Result<> CheckDbFolder(Env& env, const Path& folder);

} // namespace ibd
