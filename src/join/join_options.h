// What a join is asked for, how far it is and how it can end. See spend_join.h.
#pragma once

#include "swiftsync/aggregate.h"
#include "util/env.h"
#include "util/progress_targets.h"

#include <algorithm>
#include <string>

namespace ibd {

struct JoinOptions {
    unsigned threads = 1;
    /** Of the table and what is on its way to the disk, then of the partitions being joined;
     *  -ibdboostermem. */
    size_t memory_bytes = size_t{96} << 20;
    /** What each thread has at least once the blocks are read and the table is gone. */
    size_t least_thread_bytes = size_t{8} << 20;
    Path directory; //!< spills and state; created if absent, locked while at work
    /** A crash costs no more than so many bytes of blocks that are read and not yet durable, and
     *  one block a thread; or so many seconds of work, where these are a kMostSteps-th of the
     * bytes.
     */
    uint64_t checkpoint_bytes = uint64_t{32} << 30;
    int64_t checkpoint_seconds = 60;
    /** So many of these bytes are cut into by time, however slowly the blocks come. */
    static constexpr uint64_t kMostSteps = 32;
    ProgressTargets progress = {};
    /** False: all on the calling thread, so that a test repeats exactly. */
    bool background = true;
    /** The blocks were checked when they were connected or folded: only whether each still is what
     *  its header says is looked at. */
    bool connected = false;
    /** Events stay when they are of no use any more: the caller removes them. */
    bool leave_events = false;
    /** Keep which input spends which output, for an UndoRebuild in the same directory. */
    bool pairs = false;
    /** Hold the blocks against the rules about the coins that they spend, but scripts: see
     *  JoinVerdict::rules_kept. */
    bool values = false;
    /** Sum outputs and inputs by this, for who folds the blocks after the join: see FirstPass. */
    std::optional<AggregateKind> aggregate;
};

/** Bytes of records that a thread gathers before they go to pages, of this part of its memory. */
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
    uint64_t unspent = 0;       //!< of these, after the terminal block
    uint64_t records = 0;       //!< made and spent
    uint64_t met = 0;           //!< of these, in pairs that met in memory
    uint64_t spilled_bytes = 0; //!< on disk, of what did not
    uint64_t pair_bytes = 0;    //!< on disk, of which input spends which output
    uint64_t value_bytes = 0;   //!< on disk, of what the rules look at
    uint64_t coin_bytes = 0;    //!< on disk, of the coins spent
};

struct JoinVerdict {
    enum class Kind {
        kDone,
        kBlockInvalid, //!< a block that has its right hash breaks a rule
        /** An outpoint is made or spent more often than once, or is not there: no room to find out
         *  in which block, or whether only coinbases came back, as they may. */
        kUndecided,
        kNoRoom,      //!< the disk has too little to go on; what was done is kept
        kIncomplete,  //!< not all blocks were there; what was done is kept
        kInterrupted, //!< stopped on request; what was done is kept for the next
    };
    Kind kind = Kind::kInterrupted;
    std::string reason;
    int32_t height = -1; //!< of the invalid block
    JoinTotals totals{};
    /** If that was asked for: all blocks keep every rule but scripts. False says nothing. */
    bool rules_kept = false;
};

inline JoinVerdict InterruptedVerdict()
{
    return {.kind = JoinVerdict::Kind::kInterrupted, .reason = "interrupted"};
}

} // namespace ibd
