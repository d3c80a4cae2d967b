// The pairs of blk and rev files that may be deleted (-prune); rules and numbers are Bitcoin
// Core's. Pure.
#pragma once

#include "chain/prune_locks.h"
#include "storage/block_file_info.h"

#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace ibd {

/** Number of blocks below the tip that are kept with their undo data. */
inline constexpr int32_t kMinBlocksToKeep = 288;
/** -prune=1: files are deleted only by pruneblockchain. */
inline constexpr uint64_t kManualPruning = std::numeric_limits<uint64_t>::max();
/** The smallest -prune=<n>, bytes. */
inline constexpr uint64_t kLeastPruneTarget = uint64_t{550} << 20;

/** The highest block that may be deleted with the tip at `tip`; at most `wanted`. */
int32_t LastToPrune(int32_t tip, int32_t wanted);

/** The limit that readers of stored blocks set to pruning. */
struct PruneLimit {
    int32_t last = 0;    //!< the highest block that may be deleted; negative: none
    std::string_view by; //!< name of the reader that sets the limit; empty: none
};
/** `most`: without readers. */
PruneLimit LimitOf(std::span<const PruneLock> locks, int32_t most);

/** Files without a block above `last` (negative: none); never the last file, which is still
 *  written. */
std::vector<int32_t> FilesUpTo(std::span<const BlockFileInfo> files, int32_t last);

/** Input of automatic pruning. */
struct PruneGoal {
    uint64_t target = 0;     //!< bytes that block and undo files should stay below
    int32_t tip = 0;         //!< height
    int32_t best_header = 0; //!< height
    /** The highest block that no reader needs. */
    int32_t last = std::numeric_limits<int32_t>::max();
    /** During initial download many files are deleted at once, because each pruning flushes all
     *  coins. */
    bool downloading = false;
};

/** The first deletable files, as many as necessary for the rest to be below the target, with room
 *  for the blocks until the next check. */
std::vector<int32_t> FilesAboveTarget(std::span<const BlockFileInfo> files, const PruneGoal& goal);

} // namespace ibd
