// SnapshotDifference: after the sum of a snapshot's proof was not zero, names the first outpoint,
// in the order of the database, that the blocks and the snapshot disagree about. Two readings of
// all blocks: one for sums by ranges of outpoints, one for the outpoints of the first range whose
// sum is not zero. One thread. Memory: 32 KiB of sums, a block, and kMostOpen outpoints.
#pragma once

#include "chain/header_tree.h"
#include "swiftsync/snapshot_coins.h"

namespace ibd {

struct DifferenceTask {
    const HeaderNode& base;
    const SnapshotCoins& coins;
    FoldRules rules; //!< of the branch of the base
    uint64_t secret; //!< random, for the sums
    /** The bytes of a block at or below the base. */
    std::function<Result<Bytes>(const HeaderNode&)> read;
    const std::atomic<bool>& stop;
};

/** One sentence with the outpoint; nothing: stopped, or too much differs to be named. Errors: of
 *  reading. */
Found<std::string> FindSnapshotDifference(const DifferenceTask& task);

} // namespace ibd
