// Options and consumer of a rebuild of undo data. See undo_rebuild.h.
#pragma once

#include "chain/header_node.h"
#include "crypto/signature_batch.h"
#include "join/join_options.h"
#include "storage/block_store.h"
#include "storage/undo.h"

namespace ibd {

class SideFold;

/** A larger record is not assembled: its coins go to the consumer as they lie in memory. */
inline constexpr uint64_t kOversizedUndoBytes = 16 << 20;
/** Memory for a block whose coins exceed a thread's share, handled alone: its coins once, and for
 *  each the place and the data that the rules read. */
inline constexpr uint64_t kMaxOversizedUndoBytes =
    uint64_t{kMaxUndoSize} + uint64_t{kMaxBlockInputs} * 256;

/** Ranges of blocks (JoinState::SpendingRanges) whose undo data is made together. With fewer, more
 *  coins would wait for later portions, and threads would wait for each other more often. */
inline constexpr uint32_t kUndoPortionRanges = 128;

/** Rules checked with the coins. */
enum class UndoChecks : uint8_t {
    kNone,    //!< nothing
    kRules,   //!< all of kRules, and scripts
    kScripts, //!< these and scripts
};

struct UndoOptions {
    JoinOptions join; //!< `pairs` is set
    UndoChecks checks = UndoChecks::kRules;
    LanesMode signature_lanes = LanesMode::kOn; //!< with kScripts
    bool records = true; //!< false: blocks are only checked, and records have no bytes
    /** Blocks below this height have undo data and are not checked again. At least 1. */
    int32_t first_height = 1;
    uint64_t oversized_bytes = kOversizedUndoBytes; //!< for tests
    uint32_t portion_ranges = kUndoPortionRanges; //!< for tests
    bool outlines = true;                         //!< for tests; false: each block is read three
                                                  //!< times
    /** Where a block lies; empty: its node says so, and no thread may change nodes meanwhile. */
    std::function<FilePos(const HeaderNode&)> place = {};
    /** Gets the blocks that are read for coins; may be null. */
    SideFold* side_fold = nullptr;
    /** Keep the pairs for another rebuild if the join has shown that all rules are kept. */
    bool keep_pairs = false;
};

/** The part of a block, read for its coins, that is spilled with them (block_outline.h), so that
 *  the block need not be read again. */
enum class OutlineUse : uint8_t {
    kNone,   //!< nothing
    kCounts, //!< sizes for its undo record
    kAll,    //!< also the data that the rules, scripts excepted, read
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
    /** All records were taken and must become durable, as their sources are removed next. After an
     *  error the sources are kept. */
    virtual Result<> End() = 0;
};

} // namespace ibd
