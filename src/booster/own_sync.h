// OwnSync: the booster without given hints. Decides whether it runs and up to which block; OwnHints
// makes the hints, RuleCheck checks the rules, and FoldRun folds with the hints. Owned by
// BoosterSession; the session's thread.
#pragma once

#include "booster/fold_run.h"
#include "booster/headers_wait.h"
#include "booster/rule_check.h"

namespace ibd {

class OwnSync {
public:
    OwnSync(SessionParts& parts, const SyncPlan& plan, FoldRun& fold, JoinSteps& steps,
            RuleCheck& check)
        : m_parts(parts), m_plan(plan), m_fold(fold), m_steps(steps), m_check(check)
    {
    }

    /** Whether the booster may run with these options, if there is no chainstate. */
    bool MayRun(const ChainManagerOptions& trust) const;
    /** The planned steps if a survey is possible. */
    std::vector<WorkStep> SurveySteps() const;
    /** The steps after an index that is built without a survey. */
    std::vector<WorkStep> StepsAfterIndex() const { return StepsAfterIndex(JoinsValues()); }
    /** Makes the hints from the blocks of a survey in one read. False: hints are not wanted, or the
     *  survey does not suffice; no block was read. */
    Result<bool> JoinSurvey(BlockSurvey& survey);
    /** Builds the chainstate. kDone, kSerial or kInterrupted. */
    Result<VerdictKind> Run();

private:
    /** The start of a sync. */
    struct Start {
        HintsStanding standing;
        MadeHints made;                //!< by an earlier start
        BlockFetcher* peers = nullptr; //!< set if blocks are missing
        bool begun = false;            //!< by an earlier start
        bool pairs = false;            //!< whether the begun join keeps pairs; else whether there
                                       //!< is room for them
        bool values = true;            //!< whether there is space to join values
    };
    Result<Start> Plan();
    void WaitForPeers(Start& start, const HeaderNode* stored);
    void ResumeFurther(Start& start, const KeptWork::OwnWork& kept, const HeaderNode& reach);
    HintsStanding Judge(bool stored) const;
    HintsStanding JudgeBuried() const;
    HintsStanding WaitForTerminal(const HeadersWait::Judge& judge, BlockFetcher& peers);
    HintsStanding StandingWithoutPeers(const HeaderNode& terminal) const;
    bool FetchingMayBeWorthIt() const;
    bool IsWorthIt(const SyncPlan::BlockBytes& bytes) const;
    void LookForRoom(Start& start, const SyncPlan::BlockBytes& bytes) const;
    bool MustKeepPairs() const;
    bool KeepsPairs(const Start& start) const;
    bool JoinsValues() const;
    std::vector<WorkStep> StepsAfterIndex(bool values) const;
    Result<VerdictKind> WithoutTerminal(const Start& start) const;
    /** False: making hints would not save time. */
    Result<bool> Prepare(Start& start);
    Result<VerdictKind> RunTo(const HeaderNode& terminal, Start& start);
    Result<VerdictKind> MakeHints(const HeaderNode& terminal, Start& start,
                                  const JoinBesides& besides);
    Result<JoinVerdict> Join(const HeaderNode& terminal, BlockSupply& supply,
                             const JoinBesides& besides, MadeHints& made);
    Result<VerdictKind> Check(const HeaderNode& terminal, const MadeHints& made, bool values,
                              bool joins);
    Result<VerdictKind> Fold(const HeaderNode& terminal, const MadeHints& made, bool joins);
    Result<bool> JoinSurveyTo(const HeaderNode& terminal, BlockSurvey& survey, BlockSupply& supply,
                              const Start& start);

    SessionParts& m_parts;
    const SyncPlan& m_plan;
    FoldRun& m_fold;
    JoinSteps& m_steps;
    RuleCheck& m_check;
    bool m_refused = false; //!< JoinSurvey() gave up: a block may be invalid, or the disk is full
};

} // namespace ibd
