// FoldRun: folds blocks with hints by a SyncEngine, from the block files, from peers or from the
// survey of a reindex, and handles its verdict. Owned by BoosterSession; the session's thread.
#pragma once

#include "booster/sync_plan.h"

namespace ibd {

class FoldRun {
public:
    FoldRun(SessionParts& parts, const SyncPlan& plan) : m_parts(parts), m_plan(plan) {}

    /** Folds with the given hints. `peers`: the source of missing blocks; null: all are stored.
     *  `full`: full validation, with the spent coins that `peers` send, or from undo data. */
    Result<Verdict> RunGiven(const HeaderNode& terminal, bool full, BlockFetcher* peers);
    /** Folds with the node's own hints. `first`: the result of their join; may be null. */
    Result<Verdict> RunOwn(const HeaderNode& terminal, bool full, const Hints& hints,
                           const FirstPass* first);
    /** Folds the blocks of a survey with the given hints, as far as possible, for a later run. */
    Result<> RunSurvey(const HeaderNode& terminal, BlockSurvey& survey);
    /** Logs the verdict. kDone, kSerial or kInterrupted. */
    VerdictKind Conclude(const HeaderNode& terminal, const Verdict& verdict);

private:
    /** An observer is a FoldSearch, with which the fold shares its memory. */
    BoosterOptions OptionsFor(const HeaderNode& terminal, bool full, FoldObserver* observer) const;
    /** Null: no observer. */
    std::unique_ptr<FoldObserver> ObserverOf(FoldTask fold);
    Result<Verdict> RunStored(const HeaderNode& terminal, bool full);
    Result<Verdict> RunFromPeers(const HeaderNode& terminal, bool full, BlockFetcher& peers);
    void LogRefusal(const HeaderNode& terminal, const Verdict& verdict) const;

    SessionParts& m_parts;
    const SyncPlan& m_plan;
};

} // namespace ibd
