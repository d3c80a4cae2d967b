// BoosterRun, full validation from blocks alone: checks every rule and script with joined coins,
// before a coin is written; or all rules but scripts (-ibdboosterchecks). See booster_run.h, and
// doc/develop/booster.md for the argument.
#include "booster/booster_run.h"
#include "booster/full_mark.h"
#include "swiftsync/full_validation.h"
#include "swiftsync/side_fold.h"

namespace ibd {

namespace {

UndoChecks ChecksOf(const BoosterOptions& options)
{
    return options.full_validation ? UndoChecks::kScripts : UndoChecks::kRules;
}

/** Part of the memory for coins taken while blocks are read. */
size_t SideFoldBytes(const BoosterOptions& options) { return options.memory_bytes / 4; }

/** Options of the fold after validation, which need not check again. */
BoosterOptions AfterValidation(BoosterOptions options)
{
    options.full_validation = false;
    return options;
}

} // namespace

/** Whether to check all rules but scripts with joined coins: requested, or by default if undo data
 *  is made from them before the chain is used. */
bool BoosterRun::MustCheckRules(const BoosterOptions& options) const
{
    return options.check_rules || (!m_hints && m_own_options.checks && m_own_options.undo_first);
}

/** Full validation uses undo data if every block has it, as that takes one pass over the blocks;
 *  otherwise it joins coins. Work started with joined coins continues so, even if undo data exists
 *  by then. */
Result<bool> BoosterRun::MustJoinCoins(const HeaderNode& terminal, const BlockStore& blocks,
                                       const BoosterOptions& options) const
{
    if (!options.full_validation) return MustCheckRules(options);
    IBD_ASSIGN_OR_RETURN(
        const int32_t done,
        FullMark(m_env, options.directory, m_params, terminal, ChecksOf(options)).Load());
    if (done > 0) return true;
    IBD_ASSIGN_OR_RETURN(const HeaderNode* const bare, FirstWithoutUndo(m_env, blocks, terminal));
    return bare != nullptr;
}

/** Joins the coins, if the join for hints has not, checks all blocks, and writes their undo data if
 *  it is wanted before the chain is used, or wanted at all and scripts are run. With its own hints
 *  it also takes the chainstate's coins from the blocks read for that. Nothing: all blocks up to
 *  `terminal` keep every rule. */
Result<std::optional<BoosterRun::Outcome>>
BoosterRun::Validate(ChainManager& chain, const HeaderNode& terminal, const BlockStore& blocks,
                     const BoosterOptions& options, BlockFetcher* peers, const OwnStart* own)
{
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(options.directory));
    const UndoChecks checks = ChecksOf(options);
    const char* const what =
        checks == UndoChecks::kScripts ? "rule and script" : "rule but scripts";
    const FullMark mark(m_env, options.directory, m_params, terminal, checks);
    IBD_ASSIGN_OR_RETURN(int32_t done, mark.Load());
    const bool alone = !options.full_validation && !m_own_options.undo_first;
    const bool later = m_own_options.undo != UndoWanted::kNo;
    const bool records = later && !alone;
    if (records) {
        IBD_ASSIGN_OR_RETURN(const HeaderNode* const bare,
                             FirstWithoutUndo(m_env, blocks, terminal));
        if (bare && bare->height <= done) done = 0; // the index is new, or no undo data was wanted
    }
    if (done == terminal.height) return std::optional<Outcome>();
    m_log.Info("IBD Booster: checking every {} of blocks {} to {}, with coins that "
               "are joined from the blocks",
               what, done + 1, terminal.height);
    std::unique_ptr<SideFold> side_fold;
    if (own) {
        IBD_ASSIGN_OR_RETURN(side_fold, FoldBesides(terminal, blocks, options, *own));
    }
    BoosterOptions rest = options;
    if (side_fold) rest.memory_bytes -= SideFoldBytes(options);
    JoinVerdict verdict;
    const Result<> made = WithBlocks(
        chain, terminal, blocks, rest, peers, {.pairs = true, .values = alone && !own},
        [&](BlockSupply& supply) -> Result<> {
            const UndoTask task{.terminal = terminal,
                                .supply = supply,
                                .checks = checks,
                                .records = records,
                                .first = done + 1,
                                .side_fold = side_fold.get(),
                                .keep_pairs = later && alone,
                                .values = alone && !own,
                                .durable = [&](int32_t height) { return mark.Save(height); }};
            IBD_ASSIGN_OR_RETURN(verdict, m_validation.Make(chain, blocks, rest, task));
            return {};
        });
    if (side_fold) side_fold->End(); // keeps its work whatever the result
    IBD_RETURN_IF_ERROR(made);
    if (verdict.kind == JoinVerdict::Kind::kInterrupted)
        return std::optional(Outcome::kInterrupted);
    if (verdict.kind == JoinVerdict::Kind::kNoRoom) {
        IBD_ASSIGN_OR_RETURN(const Outcome outcome, NoRoom(options, verdict));
        return std::optional(outcome);
    }
    if (verdict.kind != JoinVerdict::Kind::kDone) {
        IBD_RETURN_IF_ERROR(RemoveCheckpoint(m_env, options.directory));
        return std::optional(GiveUp(terminal, verdict));
    }
    m_log.Info("IBD Booster: all blocks up to height {} keep every {}{}", terminal.height, what,
               records ? "; their undo data is written" : "");
    if (!later || !alone) IBD_RETURN_IF_ERROR(RemoveUndoFolder(m_env, options.directory));
    return std::optional<Outcome>();
}

/** Null: no proof that the blocks are checked already. Stores the join's results for the fold where
 *  they survive the join. */
Result<std::unique_ptr<SideFold>> BoosterRun::FoldBesides(const HeaderNode& terminal,
                                                          const BlockStore& blocks,
                                                          const BoosterOptions& options,
                                                          const OwnStart& start)
{
    if (!start.first) return std::unique_ptr<SideFold>();
    IBD_RETURN_IF_ERROR(m_own.KeepFirst(options.directory));
    return SideFold::Begin(m_env, m_log, m_params, terminal, blocks, *start.hints,
                           AfterValidation(options), *start.first, SideFoldBytes(options));
}

HintsStanding BoosterRun::JudgeBuried(const ChainManager& chain) const
{
    const int64_t now = m_env.UnixTime();
    const ChainReader reader = chain.Read();
    return FindBuriedTerminal(reader.Tree(), chain.Options(), now);
}

} // namespace ibd
