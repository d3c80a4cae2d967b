// SyncEngine: the booster. Folds every block of the best header chain up to the hints' terminal
// block on all threads, in the order in which a supply hands the blocks out (chain/block_source.h).
// Then it checks the hints and writes the chainstate once. Owned by the node, which runs it before
// it opens the chainstate. Only the engine starts threads in this module. Memory:
// BoosterOptions::memory_bytes, the blocks being parsed, and about 30 bytes a header. Its files are
// in BoosterOptions::directory while it works. See doc/develop/booster.md.
#pragma once

#include "chain/block_source.h"
#include "hints/hints.h"
#include "storage/block_store.h"
#include "swiftsync/first_pass.h"
#include "swiftsync/fold_progress.h"
#include "swiftsync/sync_options.h"

namespace ibd {

class SyncEngine {
public:
    /** Reads stored blocks at their positions in the index. `terminal`: from CheckTerminalBlock().
     *  `first`: the result of a first pass over these blocks, which saves checks; may be null;
     *  ignored if it was made with other options or rules. All references must outlive the engine.
     *  The nodes' positions (file, data_pos) must not change during Run(). */
    SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
               const BlockStore& blocks, const Hints& hints, BoosterOptions options,
               const FirstPass* first = nullptr);
    /** Takes its blocks from `supply`; `blocks` serves undo data. */
    SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
               const BlockStore& blocks, BlockSupply& supply, const Hints& hints,
               BoosterOptions options);
    ~SyncEngine();

    /** Runs the sync; call once. An error is a failed disk, a missing or damaged block or the like:
     *  no chainstate was published, and a later sync resumes. */
    Result<Verdict> Run();

    /** Makes Run() return soon; from any thread. */
    void Interrupt();

    /** From any thread, also before and after Run(). */
    FoldProgress Progress() const;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace ibd
