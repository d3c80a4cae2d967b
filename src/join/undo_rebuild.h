// UndoRebuild: makes the undo data of blocks from the blocks alone, and holds them against the
// rules that need the coins they spend. A join (spend_join.h) says which input spends which output;
// the blocks are read once more for the coins, and once more for the rules and the records. Owned
// by who asks for it; Run() on one thread, the rest from any. Memory: JoinOptions::memory_bytes, 16
// bytes a block of the chain, the blocks being parsed, and for a block with more undo data than
// fits at most kMaxGiantUndoBytes, one at a time. See doc/develop/join.md.
#pragma once

#include "join/fold_search.h"
#include "join/scan_phase.h"
#include "join/span_blocks.h"
#include "join/spend_join.h"
#include "join/spill_removal.h"
#include "join/undo_options.h"

namespace ibd {

struct BrokenRule;

class UndoRebuild {
public:
    /** Of the blocks 1 to `terminal`. `supply` gives them to the join; when it is done they are in
     *  `store` where their nodes say, and stay there. While Run() looks that up, right after the
     *  join, nobody may change those nodes. `stop`: makes Run() return soon, from any thread. All
     *  must outlive the object. */
    UndoRebuild(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                const BlockStore& store, BlockSupply& supply, UndoOptions options,
                const std::atomic<bool>& stop);

    /** Once. Goes on with what a join with JoinOptions::pairs, or an earlier rebuild, has left in
     *  the directory. A broken rule is kBlockInvalid: the reason names block, height, transaction
     *  and what the serial engine says of it; all blocks below were handed to the consumer. What is
     *  on disk is removed unless the verdict is kIncomplete or kInterrupted. An error is the
     *  machine's, or says that a block is damaged: what was durable stays for the next. */
    Result<JoinVerdict> Run(UndoConsumer& consumer);

    /** Likewise once, in place of Run(): as fast as may be, that of the blocks from
     *  UndoOptions::first_height on, SoughtCoins::kMostBlocks at most. With what a join has kept
     *  the coins are fetched that are wanted. Else they are those that were `found` while blocks
     *  were folded, if it is of the same blocks; else the blocks are read once for them
     *  (scan_phase.h), and joined only if an outpoint occurs more than once. Of what is on disk
     *  that stays which Run() goes on with, whatever the verdict. */
    Result<JoinVerdict> RunLast(UndoConsumer& consumer, std::optional<FoundCoins> found = {});

    JoinProgress Progress() const;

private:
    Result<JoinVerdict> Try(UndoConsumer& consumer);
    Result<std::optional<JoinVerdict>> TryLast(UndoConsumer& consumer, bool use_kept,
                                               std::optional<FoundCoins> found);
    bool Fits(const FoundCoins& found) const;
    Result<std::optional<JoinVerdict>> WriteFound(const JoinState& found, UndoConsumer& consumer);
    bool IsUsable(const JoinState& kept) const;
    Result<std::optional<JoinVerdict>> MakeLast(const JoinState& kept, bool use_kept,
                                                UndoConsumer& consumer);
    Result<BlockPlaces> FindPlaces() const;
    Result<uint32_t> RemoveUseless(const JoinState& state);
    Result<JoinVerdict> Write(const JoinState& state, const BlockPlaces& places,
                              UndoConsumer& consumer);
    Result<JoinVerdict> End(const JoinTotals& totals, std::optional<BrokenRule> broken,
                            UndoConsumer& consumer);

    UndoOptions m_options;
    JoinJob m_job;
    const BlockStore& m_store;
    BlockSupply& m_supply;
    SpendJoin m_join;
    SpillRemoval m_removal;
    std::atomic<bool> m_joined = false;
};

} // namespace ibd
