// SyncJob: the description of one sync (blocks, hints and options) and values derived from it
// alone. Owned by SyncEngine, which hands it to its phases. Immutable but for `stop`; any thread.
#pragma once

#include "storage/block_store.h"
#include "swiftsync/first_pass.h"
#include "swiftsync/fold.h"
#include "swiftsync/sync_options.h"
#include "swiftsync/terminal.h"

namespace ibd {

struct SyncJob {
    Env& env;
    Logger& log;
    const ChainParams& params;
    const HeaderNode& terminal;
    const BlockStore& blocks; //!< for undo data
    const Hints& hints;
    const BoosterOptions options;
    const FirstPass* first;         //!< null: no first pass was made
    std::atomic<bool> stop = false; //!< request to end early; finished work is kept

    FoldRules Rules() const;
    UniqueCoinbases Unique() const;
    /** An empty checkpoint of this sync, with a fresh salt. */
    Checkpoint NewCheckpoint() const;
    /** Whether the first pass was made of the same blocks, under the same rules and for the same
     *  hints, so that its sums can be used. */
    bool CanUse(const FirstPass& pass) const;
    /** Whether the checkpoint was made with the same hints, options and rules, so that it can be
     *  resumed. */
    bool Owns(const Checkpoint& checkpoint) const;
    /** Of full validation, for the checkpoint: the height up to which signatures are verified in
     *  batches; else 0. */
    uint32_t KnownHeight() const;
    /** Bad data: a run is damaged or missing. */
    Result<std::vector<RunReader>> OpenRunsOf(const Checkpoint& checkpoint) const;

private:
    Uint256 RulesId() const
    {
        return FoldRulesIdOf(terminal, hints.Info().counting, params.consensus);
    }
};

} // namespace ibd
