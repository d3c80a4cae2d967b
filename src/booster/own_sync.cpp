// See own_sync.h. The plan of a start is in own_sync_plan.cpp.
#include "booster/own_sync.h"

#include "booster/block_refetch.h"
#include "booster/reindex_supply.h"
#include "swiftsync/full_validation.h"
#include "swiftsync/terminal.h"

namespace ibd {

namespace {

/** The join's result for the rules about coins; nothing: not checked, or checked under other rules.
 */
std::optional<bool> RulesKept(const std::optional<FirstPass>& first, const HeaderNode& terminal,
                              const ConsensusParams& params)
{
    if (!first) return std::nullopt;
    const Uint256 now = FoldRulesIdOf(terminal, HintsCounting::kSpendable, params);
    return first->rules == now ? first->rules_kept : std::nullopt;
}

/** The number of steps of a join for hints. */
int JoinStepsOf(const JoinBesides& besides) { return besides.values ? 3 : 2; }

} // namespace

Result<VerdictKind> OwnSync::Run()
{
    if (m_refused || !MayRun(m_parts.chain->Options())) return VerdictKind::kSerial;
    IBD_ASSIGN_OR_RETURN(Start start, Plan());
    if (m_parts.watch.IsInterrupted()) return VerdictKind::kInterrupted;
    if (!start.standing.terminal) return WithoutTerminal(start);
    IBD_ASSIGN_OR_RETURN(const bool ready, Prepare(start));
    return ready ? RunTo(*start.standing.terminal, start) : VerdictKind::kSerial;
}

Result<VerdictKind> OwnSync::WithoutTerminal(const Start& start) const
{
    if (!m_parts.IsAsked()) return VerdictKind::kSerial;
    const std::string& refusal = start.standing.refusal;
    if (m_parts.Booster().full_validation) { // the serial engine omits nothing either
        m_parts.log.Info("IBD Booster: {}: validating serially", refusal);
        return VerdictKind::kSerial;
    }
    if (!start.peers) return m_parts.Refuse(start.standing);
    m_parts.log.Error("IBD Booster: the sync continues without it: {}", refusal);
    return VerdictKind::kSerial;
}

Result<bool> OwnSync::Prepare(Start& start)
{
    if (start.begun) return true;
    const HeaderNode& terminal = *start.standing.terminal;
    const SyncPlan::BlockBytes bytes = m_plan.BytesUpTo(terminal);
    if (!m_parts.IsAsked() && !IsWorthIt(bytes)) return false;
    IBD_ASSIGN_OR_RETURN(const auto* bare,
                         FirstWithoutUndo(m_parts.env, m_parts.Blocks(), terminal));
    LookForRoom(start, bytes);
    start.pairs = start.pairs && bare;
    return true;
}

Result<VerdictKind> OwnSync::RunTo(const HeaderNode& terminal, Start& start)
{
    IBD_ASSIGN_OR_RETURN(const bool joins, m_check.MustJoinCoins(terminal));
    JoinBesides besides{.values = start.values && JoinsValues()};
    besides.pairs = (joins && !besides.values) || KeepsPairs(start);
    std::vector<WorkStep> steps = m_plan.OwnSteps(besides.values, joins && !besides.values);
    if (start.made.hints) steps.erase(steps.begin(), steps.begin() + JoinStepsOf(besides));
    m_plan.Set(std::move(steps), terminal);
    m_parts.Begin();
    m_parts.trust.StartOwn(terminal.height, !m_parts.chain->Options().assume_valid.IsNull(),
                           besides.values || joins);
    if (!start.made.hints) {
        IBD_ASSIGN_OR_RETURN(const VerdictKind made, MakeHints(terminal, start, besides));
        if (made != VerdictKind::kDone) return made;
    } else if (m_plan.CountMissing(terminal) > 0) {
        // Block files have lost blocks since the hints were made.
        BlockFetcher* const peers = m_parts.StartFetcher();
        if (!peers) {
            return BadData("the node's own hints end at height {}, up to which {}", terminal.height,
                           m_plan.DescribeMissing(terminal));
        }
        IBD_RETURN_IF_ERROR(BlockRefetch(m_parts).FetchMissing(terminal, *peers));
        if (m_parts.watch.IsInterrupted()) return VerdictKind::kInterrupted;
    }
    IBD_ASSIGN_OR_RETURN(VerdictKind end, Check(terminal, start.made, besides.values, joins));
    if (end == VerdictKind::kDone) {
        IBD_ASSIGN_OR_RETURN(end, Fold(terminal, start.made, joins));
    }
    if (end == VerdictKind::kDone && m_parts.hooks.own_hints_proven) {
        m_parts.hooks.own_hints_proven(*start.made.hints, terminal.hash);
    }
    start.made.hints.reset();
    if (end != VerdictKind::kInterrupted) IBD_RETURN_IF_ERROR(m_steps.CleanUpAfter(end));
    return end;
}

/** kDone: the hints are in `start.made`. */
Result<VerdictKind> OwnSync::MakeHints(const HeaderNode& terminal, Start& start,
                                       const JoinBesides& besides)
{
    IBD_ASSIGN_OR_RETURN(
        const JoinVerdict verdict,
        m_steps.WithBlocks(terminal, start.peers, besides, [&](BlockSupply& supply) {
            return Join(terminal, supply, besides, start.made);
        }));
    if (verdict.kind == VerdictKind::kDone || verdict.kind == VerdictKind::kInterrupted) {
        return verdict.kind;
    }
    if (verdict.kind == VerdictKind::kNoRoom) return m_steps.NoRoom(verdict);
    IBD_RETURN_IF_ERROR(m_steps.CleanUp(false));
    return m_steps.GiveUp(terminal, verdict);
}

Result<JoinVerdict> OwnSync::Join(const HeaderNode& terminal, BlockSupply& supply,
                                  const JoinBesides& besides, MadeHints& made)
{
    m_parts.watch.ShowJoin(terminal);
    return m_parts.maker.Make(terminal, supply, besides, made);
}

/** If the join should have checked the rules but has no result (lost, or started without values),
 *  or found a broken rule, reads the blocks once more to check. `joins`: the blocks are checked
 *  anyway. kDone: the chainstate may be made. */
Result<VerdictKind> OwnSync::Check(const HeaderNode& terminal, const MadeHints& made, bool values,
                                   bool joins)
{
    const auto kept = RulesKept(made.first, terminal, m_parts.params.consensus);
    if (kept == true && !m_parts.Booster().full_validation) {
        m_parts.log.Info("IBD Booster: all blocks up to height {} keep every rule but scripts",
                         terminal.height);
        return VerdictKind::kDone;
    }
    // If the join suspects a broken rule, the blocks are always checked again.
    if (!joins && !values && kept != false) return VerdictKind::kDone;
    const bool room =
        joins || kept.has_value() || m_plan.HasRoom(m_plan.BytesUpTo(terminal), {.pairs = true});
    if (room) return m_check.Run(terminal, nullptr, &made);
    m_parts.trust.WarnOfTrust(terminal.height, false);
    return VerdictKind::kDone;
}

/** `joins`: with full validation, everything is checked already. */
Result<VerdictKind> OwnSync::Fold(const HeaderNode& terminal, const MadeHints& made, bool joins)
{
    const bool full = m_parts.Booster().full_validation && !joins;
    IBD_ASSIGN_OR_RETURN(const Verdict verdict, m_fold.RunOwn(terminal, full, *made.hints,
                                                              made.first ? &*made.first : nullptr));
    return m_fold.Conclude(terminal, verdict);
}

/** The steps after a new index is built; it has no undo data yet. */
std::vector<WorkStep> OwnSync::StepsAfterIndex(bool values) const
{
    const bool joins = m_parts.Booster().full_validation || m_check.MustCheckRules();
    return m_plan.OwnSteps(values, joins && !values);
}

std::vector<WorkStep> OwnSync::SurveySteps() const
{
    const JoinBesides besides{.values = JoinsValues()};
    std::vector<WorkStep> steps = StepsAfterIndex(besides.values);
    steps.insert(steps.begin() + JoinStepsOf(besides), WorkStep::kIndex);
    return steps;
}

Result<bool> OwnSync::JoinSurveyTo(const HeaderNode& terminal, BlockSurvey& survey,
                                   BlockSupply& supply, const Start& start)
{
    const bool full = m_parts.Booster().full_validation; // a new index has no undo data
    const JoinBesides besides{.pairs = full || KeepsPairs(start),
                              .values = start.values && JoinsValues()};
    m_parts.trust.StartOwn(terminal.height, !m_parts.chain->Options().assume_valid.IsNull(),
                           besides.values || m_check.MustCheckRules());
    std::vector<WorkStep> steps = StepsAfterIndex(besides.values);
    steps.insert(steps.begin() + JoinStepsOf(besides), WorkStep::kIndex);
    m_plan.Set(std::move(steps), survey, terminal);
    MadeHints made; // the next Run() finds them on the disk
    IBD_ASSIGN_OR_RETURN(const JoinVerdict verdict, Join(terminal, supply, besides, made));
    if (verdict.kind == VerdictKind::kNoRoom) { // no block was read
        m_refused = true;
        IBD_RETURN_IF_ERROR(m_steps.NoRoom(verdict));
        return false;
    }
    if (verdict.kind == VerdictKind::kBlockInvalid || verdict.kind == VerdictKind::kUndecided) {
        m_refused = true;
        IBD_RETURN_IF_ERROR(m_steps.CleanUp(false));
        (void)m_steps.GiveUp(terminal, verdict);
    } else if (verdict.kind == VerdictKind::kIncomplete) {
        m_parts.log.Info("IBD Booster: not all blocks could be joined in one pass");
    }
    return true;
}

} // namespace ibd
