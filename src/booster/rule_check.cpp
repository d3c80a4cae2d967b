// See rule_check.h.
#include "booster/rule_check.h"

#include "booster/full_mark.h"
#include "booster/known_blocks.h"
#include "swiftsync/full_validation.h"

namespace ibd {

namespace {

/** Part of the memory for coins taken while blocks are read. */
size_t SideFoldBytes(const BoosterOptions& options) { return options.memory_bytes / 4; }

/** Options of the fold after validation: it need not check the rules again. */
BoosterOptions AfterValidation(BoosterOptions options)
{
    options.full_validation = false;
    return options;
}

} // namespace

UndoChecks RuleCheck::Checks() const
{
    return m_parts.Booster().full_validation ? UndoChecks::kScripts : UndoChecks::kRules;
}

const char* RuleCheck::What() const
{
    return Checks() == UndoChecks::kScripts ? "rule and script" : "rule but scripts";
}

bool RuleCheck::ChecksAlone() const
{
    return !m_parts.Booster().full_validation && !m_parts.options.own.undo_first;
}

FullMark RuleCheck::MarkOf(const HeaderNode& terminal) const
{
    const bool scripts = Checks() == UndoChecks::kScripts;
    const int32_t known_height = scripts ? m_parts.chain->KnownHeightOf(terminal) : 0;
    return {m_parts.env, m_parts.kept.Folder(), m_parts.params, terminal, Checks(), known_height};
}

bool RuleCheck::MustCheckRules() const
{
    const OwnHintsOptions& own = m_parts.options.own;
    return m_parts.Booster().check_rules || (!m_parts.hints && own.checks && own.undo_first);
}

/** Full validation uses undo data if every block has it, as that takes one pass over the blocks;
 *  otherwise it joins coins. Work started with joined coins continues with joined coins, even if
 *  undo data exists by then. */
Result<bool> RuleCheck::MustJoinCoins(const HeaderNode& terminal) const
{
    if (!m_parts.Booster().full_validation) return MustCheckRules();
    IBD_ASSIGN_OR_RETURN(const int32_t done, MarkOf(terminal).Load());
    if (done > 0) return true;
    IBD_ASSIGN_OR_RETURN(const HeaderNode* const bare,
                         FirstWithoutUndo(m_parts.env, m_parts.Blocks(), terminal));
    return bare != nullptr;
}

/** The height up to which an earlier start has done all of it. */
Result<int32_t> RuleCheck::CheckedTo(const HeaderNode& terminal, const FullMark& mark) const
{
    IBD_ASSIGN_OR_RETURN(const int32_t done, mark.Load());
    if (!WritesUndo()) return done;
    IBD_ASSIGN_OR_RETURN(const HeaderNode* const bare,
                         FirstWithoutUndo(m_parts.env, m_parts.Blocks(), terminal));
    // The index is new, or no undo data was wanted.
    return bare && bare->height <= done ? 0 : done;
}

Result<VerdictKind> RuleCheck::Run(const HeaderNode& terminal, BlockFetcher* peers,
                                   const MadeHints* own)
{
    IBD_RETURN_IF_ERROR(m_parts.env.CreateDirectories(m_parts.kept.Folder()));
    const FullMark mark = MarkOf(terminal);
    IBD_ASSIGN_OR_RETURN(const int32_t done, CheckedTo(terminal, mark));
    if (done == terminal.height) return DropPairs(); // a death may have left them
    m_parts.log.Info("IBD Booster: checking every {} of blocks {} to {}, with coins that are "
                     "joined from the blocks",
                     What(), done + 1, terminal.height);
    if (Checks() == UndoChecks::kScripts) {
        LogKnownBlocks(*m_parts.chain, terminal, mark.KnownHeight(),
                       m_parts.Booster().signature_lanes);
    }
    IBD_ASSIGN_OR_RETURN(const JoinVerdict verdict, Make(terminal, peers, own, mark, done + 1));
    return Conclude(terminal, mark, verdict);
}

Result<JoinVerdict> RuleCheck::Make(const HeaderNode& terminal, BlockFetcher* peers,
                                    const MadeHints* own, const FullMark& mark, int32_t first)
{
    std::unique_ptr<SideFold> side_fold;
    if (own) {
        IBD_ASSIGN_OR_RETURN(side_fold, FoldBesides(terminal, *own));
    }
    const BoosterOptions& options = m_parts.Booster();
    const bool values = ChecksAlone() && !own;
    auto verdict = m_steps.WithBlocks(
        terminal, peers, {.pairs = true, .values = values}, [&](BlockSupply& supply) {
            const UndoTask task{.terminal = terminal,
                                .supply = supply,
                                .checks = Checks(),
                                .known_height = mark.KnownHeight(),
                                .records = WritesUndo(),
                                .first = first,
                                .side_fold = side_fold.get(),
                                .keep_pairs = WantsUndo() && ChecksAlone(),
                                .values = values,
                                .memory_bytes =
                                    options.memory_bytes - (side_fold ? SideFoldBytes(options) : 0),
                                .durable = [&](int32_t height) { return mark.Save(height); }};
            return m_parts.validation.Make(task);
        });
    if (side_fold) side_fold->End(); // keeps its work regardless of the result
    return verdict;
}

Result<VerdictKind> RuleCheck::Conclude(const HeaderNode& terminal, const FullMark& mark,
                                        const JoinVerdict& verdict)
{
    if (verdict.kind == VerdictKind::kInterrupted) return VerdictKind::kInterrupted;
    if (verdict.kind == VerdictKind::kNoRoom) return m_steps.NoRoom(verdict);
    if (verdict.kind != VerdictKind::kDone) {
        IBD_RETURN_IF_ERROR(m_parts.kept.Discard(KeptWork::kFold));
        return m_steps.GiveUp(terminal, verdict);
    }
    m_parts.log.Info("IBD Booster: all blocks up to height {} keep every {}{}", terminal.height,
                     What(), WritesUndo() ? "; their undo data is written" : "");
    // A join that checked the rules itself has saved no mark.
    IBD_RETURN_IF_ERROR(mark.Save(terminal.height));
    return DropPairs();
}

Result<VerdictKind> RuleCheck::DropPairs() const
{
    if (!WantsUndo() || !ChecksAlone()) {
        IBD_RETURN_IF_ERROR(m_parts.kept.Discard(KeptWork::kPairs));
    }
    return VerdictKind::kDone;
}

/** Null: there is no proof that the blocks are checked already. Stores the join's results for the
 *  fold where they are kept after the join. */
Result<std::unique_ptr<SideFold>> RuleCheck::FoldBesides(const HeaderNode& terminal,
                                                         const MadeHints& own)
{
    if (!own.first) return std::unique_ptr<SideFold>();
    IBD_RETURN_IF_ERROR(m_parts.kept.KeepFirstPass());
    const BoosterOptions& options = m_parts.Booster();
    return SideFold::Begin(m_parts.env, m_parts.log, m_parts.params, terminal, m_parts.Blocks(),
                           *own.hints, AfterValidation(options), *own.first,
                           SideFoldBytes(options));
}

} // namespace ibd
