// SyncEngine: the booster. Folds every block of the best header chain up to the hints' terminal
// block, as a supply hands them out (chain/block_source.h), in whatever order is cheapest, on all
// threads; judges the hints; writes the chainstate once. Owned by the node, which runs it before it
// opens the chainstate, and alone starts threads in this module. Memory:
// BoosterOptions::memory_bytes, the blocks being parsed, and about 30 bytes a header. What it keeps
// on disk while it is at work lies in BoosterOptions::directory. See doc/develop/booster.md.
#pragma once

#include "chain/block_source.h"
#include "hints/hints.h"
#include "storage/block_store.h"
#include "swiftsync/booster_progress.h"
#include "swiftsync/first_pass.h"
#include "swiftsync/sync_options.h"

namespace ibd {

class SyncEngine {
public:
    /** Takes its blocks from where the index says that they lie. `terminal`: from
     *  CheckTerminalBlock(). `first`: null, or what a pass over these blocks has found, so that
     *  they need not all be checked again; of no use if it is of other options or rules.
     *  Everything referred to must outlive the engine; the nodes' positions (file, data_pos) must
     *  not change while Run() is at work. */
    SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
               const BlockStore& blocks, const Hints& hints, BoosterOptions options,
               const FirstPass* first = nullptr);
    /** Takes its blocks from `supply`; `blocks` are for undo data. */
    SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
               const BlockStore& blocks, BlockSupply& supply, const Hints& hints,
               BoosterOptions options);
    ~SyncEngine();

    /** Does all of it; once. An error is a failed disk, a missing or damaged block or the like:
     *  nothing was published and a later sync resumes. */
    Result<Verdict> Run();

    /** Makes Run() return soon; from any thread. */
    void Interrupt();

    /** From any thread, also before and after Run(). */
    BoosterProgress Progress() const;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace ibd
