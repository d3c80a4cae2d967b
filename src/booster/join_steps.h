// JoinSteps: the steps shared by the join for own hints and by validation: the supply of blocks,
// and the handling of a join that found an invalid block or had too little disk space. Owned by
// BoosterSession; the session's thread.
#pragma once

#include "booster/sync_plan.h"

namespace ibd {

class JoinSteps {
public:
    JoinSteps(SessionParts& parts, const SyncPlan& plan) : m_parts(parts), m_plan(plan) {}

    using Join = std::function<Result<JoinVerdict>(BlockSupply&)>;
    /** Joins the blocks up to `terminal`, stored or from `peers` (may be null). `besides`: see
     *  JoinBesides. */
    Result<JoinVerdict> WithBlocks(const HeaderNode& terminal, BlockFetcher* peers,
                                   const JoinBesides& besides, const Join& join);
    /** Call it after kNoRoom. If the user did not request the work, the serial engine takes over,
     *  which needs no such space. */
    Result<VerdictKind> NoRoom(const Verdict& verdict);
    /** Call it after kBlockInvalid or kUndecided. The serial engine then finds and reports the
     *  invalid block. */
    VerdictKind GiveUp(const HeaderNode& terminal, const Verdict& verdict);
    /** Removes the hints and the notes of a validation, which are not needed any more. */
    Result<> CleanUp(bool keep_pairs);
    /** Call it after a whole run: CleanUp(), except that pairs are kept if undo data is made from
     *  them. */
    Result<> CleanUpAfter(VerdictKind end);

private:
    SessionParts& m_parts;
    const SyncPlan& m_plan;
};

} // namespace ibd
