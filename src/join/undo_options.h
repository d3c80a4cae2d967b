// Options and consumer of a rebuild of undo data. See undo_rebuild.h.
#pragma once

#include "chain/header_node.h"
#include "crypto/signature_batch.h"
#include "join/join_options.h"
#include "storage/block_store.h"
#include "storage/undo.h"

namespace ibd {

class SideFold;

/** A larger record is not assembled: the consumer gets views of its coins in memory. */
inline constexpr uint64_t kOversizedUndoBytes = 16 << 20;
/** Memory for a block whose coins exceed a thread's share; such blocks are handled one at a time:
 *  its coins, and for each coin its place and the data that the rules read. */
inline constexpr uint64_t kMaxOversizedUndoBytes =
    uint64_t{kMaxUndoSize} + uint64_t{kMaxBlockInputs} * 256;

/** Ranges of blocks (JoinState::SpendingRanges) whose undo data is made together. With fewer
 *  ranges, more coins would wait for later portions, and threads would wait for each other more
 *  often. */
inline constexpr uint32_t kUndoPortionRanges = 128;

/** Rules checked with the coins. */
enum class UndoChecks : uint8_t {
    kNone,    //!< nothing
    kRules,   //!< all rules about spent coins but scripts
    kScripts, //!< all rules, scripts included
};

struct UndoOptions {
    JoinOptions join; //!< `pairs` is set
    UndoChecks checks = UndoChecks::kRules;
    /** With kScripts: how signatures are verified up to known_height; above libsecp256k1 verifies
     *  alone. */
    LanesMode signature_lanes = LanesMode::kOn;
    int32_t known_height = 0; //!< of the last block that is known to be valid (KnownHeight())
    bool records = true; //!< false: blocks are only checked, and records have no bytes
    /** Blocks below this height have undo data and are not checked again. At least 1. */
    int32_t first_height = 1;
    uint64_t oversized_bytes = kOversizedUndoBytes; //!< for tests
    uint32_t portion_ranges = kUndoPortionRanges; //!< for tests
    bool outlines = true;                         //!< for tests; false: each block is read three
                                                  //!< times
    /** Returns the position of a block; empty: its node has the position, and no thread may change
     *  nodes meanwhile. */
    std::function<FilePos(const HeaderNode&)> place = {};
    /** Receives the blocks that are read for coins; may be null. */
    SideFold* side_fold = nullptr;
    /** Keep the pairs for another rebuild if the join has proven that all blocks keep the rules. */
    bool keep_pairs = false;
};

/** The part of a block, read for its coins, that is spilled with them (block_outline.h), so that
 *  the block need not be read again. */
enum class OutlineUse : uint8_t {
    kNone,   //!< nothing
    kCounts, //!< counts for the undo record
    kAll,    //!< also the data that the rules need, scripts excepted
};

inline OutlineUse OutlinesOf(const UndoOptions& options)
{
    if (!options.outlines || options.checks == UndoChecks::kScripts) return OutlineUse::kNone;
    return options.checks == UndoChecks::kNone ? OutlineUse::kCounts : OutlineUse::kAll;
}

/** Gets the undo data. */
class UndoConsumer {
public:
    virtual ~UndoConsumer() = default;

    /** Takes the record of a block that keeps the rules, as BlockStore::WriteUndo() does; valid
     *  during the call. Called in the order of heights, once for each, one call at a time, on any
     *  thread. An error ends the rebuild. The next rebuild starts above the records that the
     *  consumer has made durable (UndoOptions::first_height). */
    virtual Result<> Take(const HeaderNode& node, const UndoRecord& undo) = 0;
    /** Called after the last record: makes all records durable, because their sources are removed
     *  next. After an error the sources are kept. */
    virtual Result<> End() = 0;
};

} // namespace ibd
