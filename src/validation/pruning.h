// Which pairs of blk and rev files may be deleted (-prune): rules and numbers are Bitcoin Core's.
// Pure.
#pragma once

#include "storage/block_file_info.h"

#include <limits>
#include <span>
#include <vector>

namespace ibd {

/** So many blocks below the tip are kept, with their undo data. */
inline constexpr int32_t kMinBlocksToKeep = 288;
/** -prune=1: only what pruneblockchain says goes. */
inline constexpr uint64_t kManualPruning = std::numeric_limits<uint64_t>::max();
/** The least that -prune=<n> may ask for, bytes. */
inline constexpr uint64_t kLeastPruneTarget = uint64_t{550} << 20;

/** The highest block that may go with the tip at `tip`, at most `wanted`. */
int32_t LastToPrune(int32_t tip, int32_t wanted);

/** Files that hold no block above `last`. Never the last file, which is written on. */
std::vector<int32_t> FilesUpTo(std::span<const BlockFileInfo> files, int32_t last);

/** What automatic pruning goes by. */
struct PruneGoal {
    uint64_t target = 0;     //!< bytes of block and undo files to stay below
    int32_t tip = 0;         //!< height
    int32_t best_header = 0; //!< likewise
    /** Initial download: as pruning means to write all coins, many files go at once. */
    bool downloading = false;
};

/** The first of the files that may go, as many as have to for the rest to be below the target, with
 *  room for what is added until the next look. */
std::vector<int32_t> FilesAboveTarget(std::span<const BlockFileInfo> files, const PruneGoal& goal);

} // namespace ibd
