// SyncJob: what one sync is about - which blocks up to where, whose hints, under which options -
// and what follows from that alone. Owned by SyncEngine, which hands it to its phases. Immutable
// but for `stop`; any thread.
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
    const FirstPass* first;         //!< null: this is the only one
    std::atomic<bool> stop = false; //!< asked to end early, what is done is kept

    FoldRules Rules() const;
    UniqueCoinbases Unique() const;
    /** An empty checkpoint of this sync, with a fresh salt. */
    Checkpoint NewCheckpoint() const;
    /** What `pass` found is of these blocks, rules and hints and can be gone on with. */
    bool CanUse(const FirstPass& pass) const;
    /** The checkpoint is of these hints, options and rules, and its sum can be gone on with. */
    bool Owns(const Checkpoint& checkpoint) const;
    /** Bad data: a run is damaged or gone. */
    Result<std::vector<RunReader>> OpenRunsOf(const Checkpoint& checkpoint) const;

private:
    Uint256 RulesId() const
    {
        return FoldRulesIdOf(terminal, hints.Info().counting, params.consensus);
    }
};

} // namespace ibd
