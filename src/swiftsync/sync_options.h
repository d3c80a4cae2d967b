// Options of a sync. See engine.h.
#pragma once

#include "crypto/signature_batch.h"
#include "swiftsync/aggregate.h"
#include "swiftsync/verdict.h"
#include "util/env.h"
#include "util/progress_targets.h"

namespace ibd {

class FoldObserver;
class NamedHints; // swiftsync/named_hints.h

enum class LoaderKind : uint8_t {
    kTable, //!< sorted tables written directly, in parallel
    kBatch, //!< ordered batches through the database's own interface: the reference
};

struct BoosterOptions {
    unsigned threads = 1;
    size_t memory_bytes = size_t{96} << 20; //!< -ibdboostermem: coin buffers of all workers
    AggregateKind aggregate = AggregateKind::kSha256;
    LoaderKind loader = LoaderKind::kTable;
    /** Check every rule and script, with the coins of undo data (-ibdboosterfullvalidation): no
     *  block is assumed valid. */
    bool full_validation = false;
    /** How full validation verifies signatures. */
    LanesMode signature_lanes = LanesMode::kOn;
    /** Ignored by the engine: before it runs, all rules but scripts are checked with coins joined
     *  from the blocks (-ibdboosterchecks). */
    bool check_rules = false;
    /** End when all blocks are folded, with a checkpoint for a later sync, which judges the hints.
     *  Blocks that cannot be folded are left to that sync, without a verdict. */
    bool fold_only = false;
    /** Only judge these hints, which are those of the sync and hold the coins themselves: keep no
     *  coins and make no chainstate. The checkpoint stays; at the end it says that it is published.
     */
    const NamedHints* proves = nullptr;
    /** Refuse hints that failed once, unless a block may be at fault. Off if the node has made them
     *  from the blocks: the next ones would be the same bytes whatever the cause of the failure. */
    bool remember_bad = true;
    Path directory; //!< runs and checkpoint (-ibdboosterdir); created if absent
    /** Replaced by the finished chainstate; must not be open. Before opening it at a start without
     *  the booster, call RecoverDb() (storage/chainstate_builder.h). */
    Path chainstate;
    bool obfuscate_chainstate = true; //!< new chainstate gets a random key, as Core's has
    /** Bounds the loss at a crash: at no time are more bytes of blocks folded but not yet durable
     *  by all workers together, nor more seconds of work by any worker. */
    uint64_t checkpoint_bytes = uint64_t{32} << 30;
    int64_t checkpoint_seconds = 60;
    /** Least bytes of runs for a range of keys, and a table, of their own in the merge. */
    uint64_t min_range_bytes = uint64_t{16} << 20;
    /** Runs that are always merged at once, however little memory there is. */
    size_t min_merged_runs = 128;
    ProgressTargets progress = {};
    /** False: all work on the calling thread, in file order, so that a test is deterministic. */
    bool background = true;
    /** See the blocks, in this order, if one sync folds all of them without a FirstPass. */
    std::vector<FoldObserver*> observers = {};
};

} // namespace ibd
