// JoinSteps: the steps that the join for own hints and validation share: the supply of their
// blocks, and the end of a join that found an invalid block or no room. Owned by BoosterSession;
// the session's thread.
#pragma once

#include "booster/sync_plan.h"

namespace ibd {

class JoinSteps {
public:
    JoinSteps(SessionParts& parts, const SyncPlan& plan) : m_parts(parts), m_plan(plan) {}

    using Join = std::function<Result<JoinVerdict>(BlockSupply&)>;
    /** Joins the blocks up to `terminal`, stored or from `peers` (may be null). `besides`: see
     *  OwnHintsRoom(). */
    Result<JoinVerdict> WithBlocks(const HeaderNode& terminal, BlockFetcher* peers,
                                   const JoinBesides& besides, const Join& join);
    /** After kNoRoom. Unrequested work gives way to the serial engine, which needs no room. */
    Result<VerdictKind> NoRoom(const Verdict& verdict);
    /** After kBlockInvalid or kUndecided. The serial engine reports the error of the chain, and
     *  needs no room. */
    VerdictKind GiveUp(const HeaderNode& terminal, const Verdict& verdict);
    /** Removes the hints and the notes of a validation, which are not needed any more. */
    Result<> CleanUp(bool keep_pairs);
    /** After a whole run: CleanUp(), which keeps pairs if undo data is made of them. */
    Result<> CleanUpAfter(VerdictKind end);

private:
    SessionParts& m_parts;
    const SyncPlan& m_plan;
};

} // namespace ibd
