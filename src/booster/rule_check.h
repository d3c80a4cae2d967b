// RuleCheck: validation from blocks alone: checks every rule and script with joined coins, before a
// coin is written; or all rules but scripts (-ibdboosterchecks). Owned by BoosterSession; the
// session's thread. See doc/develop/booster.md for the argument.
#pragma once

#include "booster/join_steps.h"
#include "swiftsync/side_fold.h"

namespace ibd {

class FullMark;

class RuleCheck {
public:
    RuleCheck(SessionParts& parts, JoinSteps& steps) : m_parts(parts), m_steps(steps) {}

    /** Whether to check all rules but scripts with joined coins: requested, or by default if undo
     *  data is made from them before the chain is used. */
    bool MustCheckRules() const;
    /** Whether coins must be joined for the checks up to `terminal`. */
    Result<bool> MustJoinCoins(const HeaderNode& terminal) const;
    /** Joins the coins, if the join for hints has not, checks all blocks, and writes their undo
     *  data if it is wanted before the chain is used, or if scripts are run and it is wanted later.
     *  With own hints (`own`; null: none) the blocks read for this also supply the chainstate's
     *  coins. kDone: all blocks up to `terminal` keep every rule; else kSerial or kInterrupted. */
    Result<VerdictKind> Run(const HeaderNode& terminal, BlockFetcher* peers, const MadeHints* own);

private:
    UndoChecks Checks() const;
    const char* What() const;
    /** Whether the join's spills serve only the checks, and undo data later. */
    bool ChecksAlone() const;
    bool WantsUndo() const { return m_parts.options.own.undo != UndoWanted::kNo; }
    bool WritesUndo() const { return WantsUndo() && !ChecksAlone(); }
    FullMark MarkOf(const HeaderNode& terminal) const;
    Result<int32_t> CheckedTo(const HeaderNode& terminal, const FullMark& mark) const;
    Result<std::unique_ptr<SideFold>> FoldBesides(const HeaderNode& terminal, const MadeHints& own);
    Result<JoinVerdict> Make(const HeaderNode& terminal, BlockFetcher* peers, const MadeHints* own,
                             const FullMark& mark, int32_t first);
    Result<VerdictKind> Conclude(const HeaderNode& terminal, const FullMark& mark,
                                 const JoinVerdict& verdict);
    /** Removes pairs that undo data does not need. Returns kDone. */
    Result<VerdictKind> DropPairs() const;

    SessionParts& m_parts;
    JoinSteps& m_steps;
};

} // namespace ibd
