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
    /** The supply hands out each block with the coins that it spends, as its sender claims: full
     *  validation needs no undo data. */
    bool coins_supplied = false;
    /** How full validation verifies signatures up to known_height; above libsecp256k1 verifies
     *  alone. */
    LanesMode signature_lanes = LanesMode::kOn;
    int32_t known_height = 0; //!< of the last block that is known to be valid (KnownHeight())
    /** Check all rules but scripts with joined coins (-ibdboosterchecks). Ignored by the engine:
     *  these checks are done before it runs. */
    bool check_rules = false;
    /** Stop when all blocks are folded, and leave the verdict on the hints to a later sync, which
     *  resumes from the checkpoint. Blocks that cannot be folded are also left to that sync. */
    bool fold_only = false;
    /** Only check the hints, without keeping coins or making a chainstate: a snapshot's coins,
     *  which are also the sync's hints. The checkpoint stays; at the end it is marked as published.
     */
    const NamedHints* proves = nullptr;
    /** Refuse hints that failed once, unless a block may be at fault. Off for hints that the node
     *  made from the blocks: making them again would give the same bytes, regardless of the cause
     *  of the failure. */
    bool remember_bad = true;
    Path directory; //!< runs and checkpoint (-ibdboosterdir); created if absent
    /** Replaced by the finished chainstate; must not be open. Before opening it at a start without
     *  the booster, call RecoverDb() (storage/chainstate_builder.h). */
    Path chainstate;
    bool obfuscate_chainstate = true; //!< new chainstate gets a random key, as Core's has
    /** Bound the work lost in a crash: the bytes of blocks that all workers together have folded
     *  but not made durable, and the seconds of such work of each worker. */
    uint64_t checkpoint_bytes = uint64_t{32} << 30;
    int64_t checkpoint_seconds = 60;
    /** In the merge, a range of keys and its table have at least this many bytes of runs. */
    uint64_t min_range_bytes = uint64_t{16} << 20;
    /** Number of runs that are merged at once even if there is little memory. */
    size_t min_merged_runs = 128;
    ProgressTargets progress = {};
    /** False: all work on the calling thread, in file order, so that a test is deterministic. */
    bool background = true;
    /** Receive the folded blocks, in this order of observers, if one sync folds all blocks without
     *  a FirstPass. */
    std::vector<FoldObserver*> observers = {};
};

} // namespace ibd
