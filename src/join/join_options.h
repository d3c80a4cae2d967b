// Options, progress and verdict of a join. See spend_join.h.
#pragma once

#include "swiftsync/aggregate.h"
#include "swiftsync/verdict.h"
#include "util/env.h"
#include "util/progress_targets.h"

#include <algorithm>
#include <string>

namespace ibd {

struct JoinOptions {
    unsigned threads = 1;
    /** Memory (-ibdboostermem) for the table and the records to be written, then for the partitions
     *  being joined. */
    size_t memory_bytes = size_t{96} << 20;
    /** Minimum memory of each thread after all blocks are read and the table is freed. */
    size_t least_thread_bytes = size_t{8} << 20;
    Path directory; //!< spills and state; created if absent, locked while in use
    /** Bounds the work lost in a crash: at most this many bytes of blocks are not yet durable, and
     *  one block for each thread. A step also ends after `checkpoint_seconds` if it has at least 1
     *  / kMostSteps of these bytes. */
    uint64_t checkpoint_bytes = uint64_t{32} << 30;
    int64_t checkpoint_seconds = 60;
    /** Most steps into which time divides `checkpoint_bytes`, however slowly blocks arrive. */
    static constexpr uint64_t kMostSteps = 32;
    ProgressTargets progress = {};
    /** False: all work on the calling thread, so that a test is deterministic. */
    bool background = true;
    /** The blocks were checked when they were connected or folded: check only that each one matches
     *  its header. */
    bool connected = false;
    /** Leaves the removal of useless spills of events to the caller. */
    bool leave_events = false;
    /** Keep the pairs of outputs and spending inputs, for an UndoRebuild in the same directory. */
    bool pairs = false;
    /** Check the rules about spent coins, scripts excepted: see JoinVerdict::rules_kept. */
    bool values = false;
    /** Kind of the sum of outputs and inputs, for a fold of the blocks after the join: see
     *  FirstPass. */
    std::optional<AggregateKind> aggregate;
};

/** Bytes of records that a thread with this share of the memory gathers before it sorts them into
 *  pages. */
inline size_t CollectorBytes(size_t share)
{
    constexpr size_t kLeast = 4 << 10, kMost = 16 << 20;
    return std::clamp(share, kLeast, kMost);
}

/** Counts of a join. */
struct JoinTotals {
    uint64_t blocks = 0;
    uint64_t bytes = 0;         //!< of blocks
    uint64_t outputs = 0;       //!< as hints count them
    uint64_t unspent = 0;       //!< outputs unspent after the terminal block
    uint64_t records = 0;       //!< made and spent
    uint64_t met = 0;           //!< records of pairs matched in memory
    uint64_t spilled_bytes = 0; //!< bytes on disk of unmatched records
    uint64_t pair_bytes = 0;    //!< on disk, of pairs
    uint64_t value_bytes = 0;   //!< on disk, of values
    uint64_t coin_bytes = 0;    //!< bytes on disk of spent coins
};

struct JoinVerdict : Verdict {
    JoinTotals totals{};
    /** With JoinOptions::values: all blocks keep every rule, scripts excepted. False proves
     *  nothing. */
    bool rules_kept = false;
};

inline JoinVerdict InterruptedVerdict()
{
    return {{.kind = VerdictKind::kInterrupted, .reason = "interrupted"}};
}

} // namespace ibd
