// What a rebuild of undo data is asked for, and who is given it. See undo_rebuild.h.
#pragma once

#include "chain/header_node.h"
#include "crypto/signature_batch.h"
#include "join/join_options.h"
#include "storage/block_store.h"
#include "storage/undo.h"

namespace ibd {

class SideFold;

/** A record above this is not put together: its coins go to the consumer as they lie. */
inline constexpr uint64_t kGiantUndoBytes = 16 << 20;
/** A block whose coins are more than a thread's share of the memory is dealt with alone: its coins,
 *  once, and for each of them where it lies and what the rules look at. */
inline constexpr uint64_t kMaxGiantUndoBytes =
    uint64_t{kMaxUndoSize} + uint64_t{kMaxBlockInputs} * 256;

/** Ranges of blocks (JoinState::SpendingRanges) whose undo data is made together. Fewer would leave
 *  more coins for later portions and threads waiting for each other more often. */
inline constexpr uint32_t kUndoPortionRanges = 128;

/** What is checked with the coins. */
enum class UndoChecks : uint8_t {
    kNone,    //!< nothing
    kRules,   //!< amounts, fees, reward, maturity, relative locks, sigop cost: all but scripts
    kScripts, //!< these and scripts
};

struct UndoOptions {
    JoinOptions join; //!< `pairs` is set
    UndoChecks checks = UndoChecks::kRules;
    LanesMode signature_lanes = LanesMode::kOn; //!< with kScripts
    bool records = true; //!< false: blocks are only checked, and records have no bytes
    /** Blocks below this height have their undo data: they are not checked again. At least 1. */
    int32_t first_height = 1;
    uint64_t giant_bytes = kGiantUndoBytes;       //!< for tests
    uint32_t portion_ranges = kUndoPortionRanges; //!< for tests
    bool outlines = true;                         //!< for tests; else each block is read thrice
    /** Where a block lies; nothing: its node says so, and nobody changes nodes meanwhile. */
    std::function<FilePos(const HeaderNode&)> place = {};
    /** Is given the blocks that are read for coins; null: nobody. */
    SideFold* side_fold = nullptr;
    /** Where the join has shown that all rules are kept: its pairs stay for another rebuild. */
    bool keep_pairs = false;
};

/** What of a block that was read for coins goes with these (block_outline.h), so that it need not
 * be read again. */
enum class OutlineUse : uint8_t {
    kNone,   //!< nothing
    kCounts, //!< what its record takes
    kAll,    //!< what the rules but scripts look at, too
};

inline OutlineUse OutlinesOf(const UndoOptions& options)
{
    if (!options.outlines || options.checks == UndoChecks::kScripts) return OutlineUse::kNone;
    return options.checks == UndoChecks::kNone ? OutlineUse::kCounts : OutlineUse::kAll;
}

/** Who is given the undo data. */
class UndoConsumer {
public:
    virtual ~UndoConsumer() = default;

    /** The record of a block that keeps the rules, as BlockStore::WriteUndo() takes it; valid
     *  during the call. In the order of heights, each once, one call at a time, on any thread. An
     *  error ends the rebuild. What the consumer has made durable it leaves out of the next one
     *  (UndoOptions::first_height). */
    virtual Result<> Take(const HeaderNode& node, const UndoRecord& undo) = 0;
    /** All that there are have been taken, and are to be durable: what they were made of is removed
     *  next. An error keeps that. */
    virtual Result<> End() = 0;
};

} // namespace ibd
