// UndoRebuild: makes the undo data of blocks from the blocks alone, and checks the rules that need
// the spent coins. A join (spend_join.h) finds the output that each input spends; the blocks are
// read once more for the coins, and once more for the rules and the records. Run() on one thread,
// the rest from any. Memory: JoinOptions::memory_bytes, 16 bytes for each block of the chain, the
// blocks being parsed, and at most kMaxOversizedUndoBytes for one block with more undo data than
// fits. See doc/develop/join.md.
#pragma once

#include "join/fold_search.h"
#include "join/scan_phase.h"
#include "join/span_blocks.h"
#include "join/spend_join.h"
#include "join/spill_removal.h"
#include "join/undo_options.h"
#include "util/found.h"

namespace ibd {

struct BrokenRule;

class UndoRebuild {
public:
    /** For the blocks 1 to `terminal`. `supply` hands them to the join. After the join they are in
     *  `store` at the positions in their nodes, and must not move. While Run() copies these
     *  positions, right after the join, no thread may change the nodes. `stop`: makes Run() return
     *  soon; set by any thread. All arguments must outlive the object. */
    UndoRebuild(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                const BlockStore& store, BlockSupply& supply, UndoOptions options,
                const std::atomic<bool>& stop);

    /** Call once. Resumes the work that a join with JoinOptions::pairs, or an earlier rebuild, left
     *  in the directory. A broken rule gives kBlockInvalid: the reason names block, height,
     *  transaction and the serial engine's text; the records of all blocks below went to the
     *  consumer. The files are removed unless the verdict is kIncomplete or kInterrupted. An error
     *  is the machine's, or a damaged block: durable work stays for the next rebuild. */
    Result<JoinVerdict> Run(UndoConsumer& consumer);

    /** An alternative to Run(), also once: makes the undo data of the blocks from
     *  UndoOptions::first_height on, at most WantedCoins::kMostBlocks, as fast as possible. The
     *  coins come from the first available source: the pairs that a join has kept; `found`, which a
     *  fold has gathered, if it is of the same blocks; one read of the blocks (scan_phase.h); a
     *  join, if an outpoint occurs more than once. Files that Run() can resume from stay,
     *  regardless of the verdict. */
    Result<JoinVerdict> RunLast(UndoConsumer& consumer, std::optional<FoundCoins> found = {});

    JoinProgress Progress() const;

private:
    Result<JoinVerdict> Try(UndoConsumer& consumer);
    Found<JoinVerdict> TryLast(UndoConsumer& consumer, bool use_kept,
                               std::optional<FoundCoins> found);
    bool Fits(const FoundCoins& found) const;
    Found<JoinVerdict> WriteFound(const JoinState& found, UndoConsumer& consumer);
    bool IsUsable(const JoinState& kept) const;
    Found<JoinVerdict> MakeLast(const JoinState& kept, bool use_kept, UndoConsumer& consumer);
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
