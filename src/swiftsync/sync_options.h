// What a sync is asked for, and how it can end. See engine.h.
#pragma once

#include "crypto/signature_batch.h"
#include "swiftsync/aggregate.h"
#include "util/env.h"
#include "util/progress_targets.h"

namespace ibd {

class FoldObserver;

enum class LoaderKind : uint8_t {
    kTable, //!< sorted tables written directly, in parallel
    kBatch, //!< ordered batches through the database's own interface: the simple twin
};

struct BoosterOptions {
    unsigned threads = 1;
    size_t memory_bytes = size_t{96} << 20; //!< -ibdboostermem: coin buffers of all workers
    AggregateKind aggregate = AggregateKind::kSha256;
    LoaderKind loader = LoaderKind::kTable;
    /** Every rule and script is checked, with the coins of undo data (-ibdboosterfullvalidation):
     *  no block needs to be assumed valid. */
    bool full_validation = false;
    /** How full validation verifies signatures. */
    LanesMode signature_lanes = LanesMode::kOn;
    /** Not the engine's: before it, all rules but scripts are checked with coins joined from the
     *  blocks (-ibdboosterchecks). */
    bool check_rules = false;
    /** Ends when all blocks are folded, with a checkpoint for a sync that judges. Nothing is said
     *  against the hints or a block: what cannot be folded is left to that sync. */
    bool fold_only = false;
    /** Hints that fail are refused from then on, unless a block may be at fault. Not where the node
     * has made them of the blocks: the next would be the same bytes, whatever made these fail. */
    bool remember_bad = true;
    Path directory; //!< runs and checkpoint (-ibdboosterdir); created if absent
    /** Replaced by the finished chainstate; must not be open. Before it is opened at a start
     *  without the booster, call RecoverPublish() (storage/chainstate_builder.h). */
    Path chainstate;
    bool obfuscate_chainstate = true; //!< new chainstate gets a random key, as Core's has
    /** The interval: at no moment are more bytes of blocks folded and not yet durable, by all
     *  workers together; nor, by any worker, more seconds of work. A crash costs no more. */
    uint64_t checkpoint_bytes = uint64_t{32} << 30;
    int64_t checkpoint_seconds = 60;
    /** Bytes of runs that are worth a range of keys, and a table, of their own in the merge. */
    uint64_t min_range_bytes = uint64_t{16} << 20;
    /** So many runs are merged at once however little memory there is. */
    size_t min_merged_runs = 128;
    ProgressTargets progress = {};
    /** False: all on the calling thread, in file order, so that a test repeats exactly. */
    bool background = true;
    /** Who sees the blocks, if one sync folds all of them without a FirstPass; null:
     *  nobody. */
    FoldObserver* observer = nullptr;
};

enum class VerdictKind {
    kAccepted,     //!< the chainstate is complete at the terminal block
    kHintsWrong,   //!< some check failed; the chainstate is untouched, validate serially
    kUnprovable,   //!< likewise: on a chain that repeats coinbases no hints prove anything
    kBlockInvalid, //!< a block that has its right hash broke a rule; validate serially
    kFolded,       //!< BoosterOptions::fold_only: all blocks are folded
    kIncomplete,   //!< not all blocks could be folded; what was done is kept
    kNoUndo,       //!< full validation: undo data is missing or damaged; validate serially
    kInterrupted,  //!< stopped on request; what was done is kept for the next
};

struct Verdict {
    VerdictKind kind = VerdictKind::kInterrupted;
    std::string reason;  //!< the exact check that failed, for the log
    int32_t height = -1; //!< of the invalid block, or the terminal height
    uint64_t coins = 0;  //!< in the new chainstate
    /** kHintsWrong: unless a block up to the terminal one is invalid. */
    bool suspect = false;
};

} // namespace ibd
