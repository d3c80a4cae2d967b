// See booster_run.h.
#include "node/booster_run.h"

#include "node/reindex_supply.h"

namespace ibd {

namespace {

/** The name of the check in the line that scripts look for. */
const char* CheckName(AggregateKind kind)
{
    return kind == AggregateKind::kMuHash ? "MuHash" : "SHA256";
}

/** What the user can do when the terminal block is not assumed valid for this reason. */
const char* Remedy(ScriptCheckReason reason)
{
    switch (reason) {
    case ScriptCheckReason::kBestHeaderLowWork:
        return "the block files end too early, complete them first";
    case ScriptCheckReason::kTooRecent:
        return "take hints of a block with two weeks of work above it, or complete the block files";
    default: return "give -assumevalid=<hash> of a block at or above that height";
    }
}

} // namespace

Result<> BoosterRun::OpenHintsFile(const Path& path)
{
    IBD_ASSIGN_OR_RETURN(m_hints, OpenHints(m_env, path));
    const HintsInfo& info = m_hints->Info();
    IBD_RETURN_IF_ERROR(CheckNetwork(info, m_params));
    m_log.Info("IBD Booster: hints {}: terminal height {}, {} of {} outputs unspent", path.string(),
               info.terminal_height, info.unspent, info.outputs);
    return {};
}

Result<const HeaderNode*> BoosterRun::Terminal(const HeaderTree& headers,
                                               const ChainManagerOptions& trust,
                                               bool full_validation) const
{
    IBD_ASSIGN_OR_RETURN(const HeaderNode* terminal,
                         CheckTerminalBlock(m_hints->Info(), headers, m_params));
    if (full_validation) return terminal; // nothing is assumed
    const ScriptCheckReason reason =
        ScriptCheckFor(headers, *terminal, trust.assume_valid, trust.minimum_work);
    if (reason == ScriptCheckReason::kSkip) return terminal;
    return BadData("{}: the hints end at block {}, height {}, whose scripts must be run ({}). The "
                   "booster works below the assumed-valid block only: {}; or add "
                   "-ibdboosterfullvalidation if there is undo data, or leave out -ibdboosterfile",
                   m_hints->Info().path.string(), terminal->hash.ToHex(), terminal->height,
                   ScriptCheckReasonText(reason), Remedy(reason));
}

Result<Verdict> BoosterRun::RunEngine(std::unique_ptr<SyncEngine> engine)
{
    SyncEngine* at_work = engine.get();
    {
        const Lock lock(m_mutex);
        m_engine = std::move(engine);
        if (m_interrupted) m_engine->Interrupt();
    }
    return at_work->Run();
}

Result<> BoosterRun::FoldSurvey(BlockSurvey& survey, const ChainManagerOptions& trust,
                                const BlockStore& blocks, const BoosterOptions& options)
{
    // Hints that do not fit are refused by Run(), when the index says what the blocks are.
    const auto terminal = Terminal(survey.Tree(), trust, options.full_validation);
    if (!terminal) return {};
    LogStart(options, (*terminal)->height);
    BoosterOptions folding = options;
    folding.fold_only = true;
    ReindexSupply supply(m_env, blocks, survey, **terminal);
    const Result<Verdict> verdict = RunEngine(std::make_unique<SyncEngine>(
        m_env, m_log, m_params, **terminal, blocks, supply, *m_hints, std::move(folding)));
    const Lock lock(m_mutex);
    m_progress = m_engine->Progress();
    m_engine.reset(); // it refers to the survey
    if (!verdict) return verdict.GetError();
    if (verdict->kind == VerdictKind::kIncomplete) {
        m_log.Info("IBD Booster: not all blocks could be folded at once: {}", verdict->reason);
    }
    return {};
}

/** More is taken on trust than by Core's -assumevalid, and the user is to know it. */
void BoosterRun::LogStart(const BoosterOptions& options, int32_t height)
{
    if (std::exchange(m_told, true)) return; // in FoldSurvey()
    m_log.Info("IBD Booster: runs and checkpoint are kept in '{}'", options.directory.string());
    if (options.full_validation) return;
    m_log.Warning("IBD Booster: up to height {} not only scripts are assumed valid, as "
                  "-assumevalid has it, but also amounts against inputs, coinbase maturity, "
                  "relative lock times, and that no block spends an output of a later block; "
                  "-ibdboosterfullvalidation checks all of it",
                  height);
}

Result<BoosterRun::Outcome> BoosterRun::Run(ChainManager& chain, const BlockStore& blocks,
                                            const BoosterOptions& options)
{
    IBD_ASSIGN_OR_RETURN(const HeaderNode* terminal,
                         Terminal(chain.Read().Tree(), chain.Options(), options.full_validation));
    LogStart(options, terminal->height);
    IBD_ASSIGN_OR_RETURN(const Verdict verdict,
                         RunEngine(std::make_unique<SyncEngine>(m_env, m_log, m_params, *terminal,
                                                                blocks, *m_hints, options)));
    switch (verdict.kind) {
    case VerdictKind::kAccepted:
        m_log.Info("*** IBD Booster: {} check at block height {} succeeded. ***",
                   CheckName(options.aggregate), verdict.height);
        return Outcome::kBuilt;
    case VerdictKind::kHintsWrong:
        m_log.Error("IBD Booster: the hints are wrong: {}. Nothing was written; validating "
                    "serially from the same blocks",
                    verdict.reason);
        return Outcome::kSerial;
    case VerdictKind::kNoUndo:
        m_log.Error("IBD Booster: {}. Use it without -ibdboosterfullvalidation, below an "
                    "assumed-valid block. Validating serially, which makes what is missing",
                    verdict.reason);
        return Outcome::kSerial;
    case VerdictKind::kBlockInvalid:
        m_log.Error("IBD Booster: block at height {} is invalid: {}. Validating serially",
                    verdict.height, verdict.reason);
        return Outcome::kSerial;
    case VerdictKind::kInterrupted: return Outcome::kInterrupted;
    case VerdictKind::kFolded:     // that is for FoldSurvey()
    case VerdictKind::kIncomplete: // a stored block that is not there is an error
        break;
    }
    CHECK(false);
    return Outcome::kSerial;
}

void BoosterRun::Interrupt()
{
    const Lock lock(m_mutex);
    m_interrupted = true;
    if (m_engine) m_engine->Interrupt();
}

std::optional<BoosterProgress> BoosterRun::Progress() const
{
    const Lock lock(m_mutex);
    if (m_engine) return m_engine->Progress();
    if (m_progress) return m_progress;
    if (!m_hints) return std::nullopt;
    BoosterProgress progress;
    progress.terminal_height = static_cast<int32_t>(m_hints->Info().terminal_height);
    progress.terminal_hash = m_hints->Info().terminal_hash.value_or(BlockHash{});
    progress.hints_id = m_hints->Info().id;
    return progress;
}

} // namespace ibd
