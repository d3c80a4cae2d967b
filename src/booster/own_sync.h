// OwnSync: the booster without given hints: decides whether and up to which block it works, has
// OwnHints make the hints, has the rules checked, and folds with them. Owned by BoosterSession; the
// session's thread.
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

    /** Whether it may run with these options, if there is no chainstate. */
    bool MayRun(const ChainManagerOptions& trust) const;
    /** The steps with a survey that nothing prevents. */
    std::vector<WorkStep> SurveySteps() const;
    /** The steps after an index that is built without a survey. */
    std::vector<WorkStep> StepsAfterIndex() const { return StepsAfterIndex(JoinsValues()); }
    /** Makes the hints from the blocks of a survey, which are read once. False: they are not
     *  wanted, or not for this survey; no block was read. */
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
        bool pairs = false;            //!< the join keeps them, if begun; else there is room for
                                       //!< them
        bool values = true;            //!< there is room for them
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
    /** False: it is not worth it. */
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
    bool m_refused = false; //!< by JoinSurvey(): a block may be invalid, or the disk is full
};

} // namespace ibd
