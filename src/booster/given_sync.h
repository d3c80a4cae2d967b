// GivenSync: the booster with given hints, which come from the user, the hints folder or peers:
// opens and converts them, waits for their terminal block, folds with them, and drops them if they
// fail. Owned by BoosterSession; the session's thread.
#pragma once

#include "booster/fold_run.h"
#include "booster/headers_wait.h"
#include "booster/rule_check.h"

namespace ibd {

class GivenSync {
public:
    GivenSync(SessionParts& parts, const SyncPlan& plan, FoldRun& fold, JoinSteps& steps,
              RuleCheck& check)
        : m_parts(parts), m_plan(plan), m_fold(fold), m_steps(steps), m_check(check)
    {
    }

    /** Opens the hints. Called before the start changes anything on disk, so that a wrong file does
     *  no harm. */
    Result<> Open(HintsChoice choice);
    /** Whether they must be converted by Convert() before use. */
    bool Wait() const { return m_waiting.has_value(); }
    /** Converts waiting hints to a container, with the stored blocks; no result on interruption.
     *  Hints that are damaged, or do not match the stored blocks, are an error if the user named
     *  them; hints of a folder are then only logged. */
    Result<> Convert();
    /** After Run(): whether the hints failed a check. */
    bool WereWrong() const { return m_wrong; }
    /** After Run(): drops hints that were wrong or refused. False: none were. */
    bool DropFailed();
    /** Opens suspect hints that Run() refused. Call it when nothing else is left to try. False:
     *  there are no more. */
    bool TakeSuspects();
    /** Folds the blocks of a survey up to the end of the hints. Sound blocks are marked in the
     *  survey. */
    Result<> FoldSurvey(BlockSurvey& survey);
    /** Builds the chainstate. kDone, kSerial or kInterrupted. */
    Result<VerdictKind> Run();

private:
    Result<HintsRank> RankOf(const HintsInfo& info) const;
    Found<Verdict> EarlierVerdict(const HeaderNode& terminal) const;
    HintsStanding Judge() const;
    HintsStanding WaitForEnd(BlockFetcher& peers);
    Result<VerdictKind> Refuse(const HintsStanding& standing, bool has_peers);
    Result<VerdictKind> RunTo(const HeaderNode& terminal, BlockFetcher* peers);
    Result<BlockFetcher*> FindSpentCoins(const HeaderNode& terminal, BlockFetcher* peers);
    VerdictKind RefusePruned() const;
    Result<VerdictKind> CheckAndFold(const HeaderNode& terminal, BlockFetcher* peers);
    Result<VerdictKind> Fold(const HeaderNode& terminal, bool full, BlockFetcher* peers);
    VerdictKind Conclude(const HeaderNode& terminal, const Verdict& verdict);
    Result<> DiscardBegunJoin(const HeaderNode& terminal);
    void LogHints() const;
    // given_sync_convert.cpp
    /** The terminal block of waiting hints, if they can be converted. */
    Result<const HeaderNode*> FindEndOfWaiting() const;
    Result<> MakeContainer(const HeaderNode& terminal);
    Result<bool> WriteContainer(const HeaderNode& terminal, const Path& to) const;

    SessionParts& m_parts;
    const SyncPlan& m_plan;
    FoldRun& m_fold;
    JoinSteps& m_steps;
    RuleCheck& m_check;
    std::optional<WaitingHints> m_waiting;
    bool m_named = false;    //!< named by the user; else found in a folder
    bool m_surveyed = false; //!< FoldSurvey() has read the blocks
    bool m_wrong = false;
    bool m_failed = false; //!< the hints were wrong, or are of another chain
    std::string m_failure; //!< the reason
    std::vector<Path> m_suspects;  //!< refused by Run() because an earlier sync suspects them
    bool m_tries_suspects = false; //!< they are not refused any more
};

} // namespace ibd
