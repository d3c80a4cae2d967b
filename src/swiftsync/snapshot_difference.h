// SnapshotDifference: finds, after a snapshot's proof gave a nonzero sum, the first outpoint in
// database order on which the blocks and the snapshot disagree. Reads all blocks twice: once for
// sums by ranges of outpoints, once for the outpoints of the first range with a nonzero sum. One
// thread. Memory: 32 KiB of sums, a block, and kMostOpen outpoints.
#pragma once

#include "chain/header_tree.h"
#include "swiftsync/snapshot_coins.h"

namespace ibd {

struct DifferenceTask {
    const HeaderNode& base;
    const SnapshotCoins& coins;
    FoldRules rules; //!< of the branch of the base
    uint64_t secret; //!< random key of the sums
    /** Reads the bytes of a block at or below the base. */
    std::function<Result<Bytes>(const HeaderNode&)> read;
    const std::atomic<bool>& stop;
};

/** One sentence with the outpoint; nothing: stopped, or too many outpoints differ. Errors: of
 *  reading. */
Found<std::string> FindSnapshotDifference(const DifferenceTask& task);

} // namespace ibd
