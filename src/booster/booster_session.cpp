// See booster_session.h.
#include "booster/booster_session.h"

#include "validation/pruning.h"

#include <algorithm>

namespace ibd {

BoosterSession::BoosterSession(Env& env, Logger& log, const ChainParams& params,
                               SessionOptions options)
    : m_parts(env, log, params, std::move(options))
{
}

void BoosterSession::Attach(ChainManager& chain, SessionHooks hooks)
{
    m_parts.chain = &chain;
    m_parts.hooks = std::move(hooks);
    m_parts.undo.Attach(chain);
    m_parts.validation.Attach(chain);
}

void BoosterSession::TendKeptWork(bool reindexes, bool rebuilds)
{
    m_reindexes = reindexes;
    m_upkeep.AtStart(rebuilds, m_parts.hints != nullptr);
}

bool BoosterSession::IsRequested() const
{
    return m_parts.IsAsked() || m_parts.hints || m_given.Wait();
}

Result<> BoosterSession::CheckPlace() const { return IsRequested() ? FindPlace() : Result<>(); }

bool BoosterSession::MayRun() const { return IsWanted() && FindPlace(); }

// Full validation joins coins before it folds, so given hints are not folded now; hints that must
// be converted wait for the index.
bool BoosterSession::TakesSurvey() const
{
    const bool waits = m_given.Wait() || (m_parts.hints && m_parts.Booster().full_validation);
    return MayRun() && !waits;
}

void BoosterSession::PlanSurvey(uint64_t bytes) const
{
    m_plan.SetSurvey(m_parts.hints ? std::vector{WorkStep::kFold, WorkStep::kIndex, WorkStep::kLoad}
                                   : m_own.SurveySteps(),
                     bytes);
}

void BoosterSession::PlanIndex(uint64_t bytes) const
{
    const BoosterOptions& booster = m_parts.Booster();
    if (m_given.Wait()) {
        m_plan.SetIndex({WorkStep::kConvertHints, WorkStep::kFold, WorkStep::kLoad}, bytes);
    } else if (m_parts.hints) {
        m_plan.SetIndex(m_plan.GivenSteps(booster.full_validation || booster.check_rules), bytes);
    } else {
        m_plan.SetIndex(m_own.StepsAfterIndex(), bytes);
    }
}

Result<bool> BoosterSession::TakeSurvey(BlockSurvey& survey)
{
    if (!m_parts.hints) return m_own.JoinSurvey(survey);
    IBD_RETURN_IF_ERROR(m_given.FoldSurvey(survey));
    return true;
}

Result<> BoosterSession::PrepareHints()
{
    if (const Result<> place = FindPlace(); !place) {
        if (IsRequested()) return place;
        if (!IsWanted() && !m_parts.options.hints.folder) return {};
        m_parts.log.Warning("IBD Booster: {}. Validating serially", place.Message());
        return {};
    }
    IBD_RETURN_IF_ERROR(ConvertHints());
    return m_parts.watch.IsInterrupted() ? Result<>() : AskPeersForHints();
}

Result<> BoosterSession::ConvertHints()
{
    if (!m_given.Wait()) return {};
    m_parts.Begin("Converting hints…"); // reads all blocks
    return DespiteDamage([this] { return m_given.Convert(); });
}

Result<> BoosterSession::AskPeersForHints()
{
    const bool wanted = m_parts.options.hints.folder && m_parts.hooks.fetch_hints;
    // With -reindex the node has made its own hints by now, or cannot.
    if (m_parts.hints || m_reindexes || !wanted) return {};
    m_parts.Begin("Asking peers for hints…"); // may wait for headers
    IBD_ASSIGN_OR_RETURN(const std::optional<Path> file, m_parts.hooks.fetch_hints(*m_parts.chain));
    if (!file) return {};
    return OpenHints({.file = file, .folder = {}, .hash = m_parts.options.hints.hash});
}

// If a file named by the user fails, no other is tried. After a file from the folder, the next best
// in the folder is tried, then hints from peers.
Result<> BoosterSession::TakeNextHints()
{
    if (!m_parts.options.hints.folder) return {};
    IBD_RETURN_IF_ERROR(OpenHints(m_parts.options.hints));
    return PrepareHints();
}

// Suspect hints fail again if all blocks are valid, so they come last.
Result<VerdictKind> BoosterSession::BuildWithSuspects()
{
    VerdictKind end = VerdictKind::kSerial;
    while (end == VerdictKind::kSerial && m_given.TakeSuspects()) {
        IBD_ASSIGN_OR_RETURN(end, RunAndReport());
        (void)m_given.DropFailed();
    }
    return end;
}

// After hints that failed: builds with the next hints; if there are none, with own hints if that
// saves time; then with suspect hints, else serially.
Result<VerdictKind> BoosterSession::Build()
{
    IBD_ASSIGN_OR_RETURN(VerdictKind end, RunAndReport());
    bool dropped = false;
    while (end == VerdictKind::kSerial && m_given.DropFailed()) {
        dropped = true;
        IBD_RETURN_IF_ERROR(TakeNextHints());
        if (m_parts.watch.IsInterrupted()) return VerdictKind::kInterrupted;
        IBD_ASSIGN_OR_RETURN(end, RunAndReport());
    }
    if (end == VerdictKind::kSerial) {
        IBD_ASSIGN_OR_RETURN(end, BuildWithSuspects());
    }
    if (dropped && end == VerdictKind::kSerial) {
        m_parts.log.Info("IBD Booster: validating serially");
    }
    return end;
}

Result<VerdictKind> BoosterSession::RunAndReport()
{
    IBD_ASSIGN_OR_RETURN(const VerdictKind end, Run());
    OverallProgress* const overall = m_parts.Booster().progress.overall;
    if (end == VerdictKind::kSerial && overall) overall->End();
    if (m_parts.hooks.ended) m_parts.hooks.ended(end);
    return end;
}

Result<VerdictKind> BoosterSession::Run()
{
    m_parts.watch.ShowFullValidation(m_parts.Booster().full_validation);
    for (;;) {
        if (m_parts.hints) m_parts.Begin();
        auto end = m_parts.hints ? m_given.Run() : m_own.Run();
        if (end) return end;
        IBD_ASSIGN_OR_RETURN(const bool mended, m_repair.Mend(end.GetError()));
        if (m_parts.watch.IsInterrupted()) return VerdictKind::kInterrupted;
        if (!mended) return end;
    }
}

// Runs before the checks at start, and before a block above is connected, so that the files equal
// those of serial validation.
Result<> BoosterSession::MakeUndo()
{
    const bool wanted = m_parts.options.own.undo != UndoWanted::kNo;
    if (!wanted || !UndoRun::IsNeeded(*m_parts.chain)) {
        m_upkeep.DiscardPairs();
        return {};
    }
    if (m_parts.MakesUndoLater()) {
        IBD_RETURN_IF_ERROR(MakeLastUndo());
        m_parts.undo.Expect();
        return {};
    }
    m_parts.Begin("Making undo data…"); // may take hours too
    (void)PlanUndo({WorkStep::kReadBlocks, WorkStep::kJoin, WorkStep::kWriteUndo});
    return DespiteDamage([this] { return m_parts.undo.Run(); });
}

// False: the sync has planned these steps already.
bool BoosterSession::PlanUndo(const std::vector<WorkStep>& steps) const
{
    OverallProgress* const overall = m_parts.Booster().progress.overall;
    const HeaderNode* const tip = m_parts.chain->Tip();
    if (!overall || overall->Now() || !tip) return false;
    const uint64_t bytes = BlockPlan(*tip, [](int32_t) { return false; }).EstimatedBytes();
    const uint64_t last = std::max(tip->height / kMinBlocksToKeep, 1);
    overall->Plan(PlanOf(steps, {.bytes = bytes,
                                 .threads = m_parts.Booster().threads,
                                 .last_undo = m_parts.MakesUndoLater() ? bytes / last : 0}));
    return true;
}

// Peers send damaged stored blocks again; then the work continues.
Result<> BoosterSession::DespiteDamage(const std::function<Result<>()>& work)
{
    for (;;) {
        Result<> done = work();
        if (done || m_parts.undo.Broken() != nullptr) return done;
        IBD_ASSIGN_OR_RETURN(const bool mended, m_repair.Mend(done.GetError()));
        if (!mended) return done;
    }
}

// A failure does not stop the start.
Result<> BoosterSession::MakeLastUndo()
{
    if (!UndoRun::IsLastNeeded(*m_parts.chain)) return {};
    m_parts.Begin("Making undo data of the last blocks…");
    const bool planned = PlanUndo({WorkStep::kFetchCoins, WorkStep::kWriteUndo});
    Result<> made = DespiteDamage([this] { return m_parts.undo.RunLast(); });
    if (planned) m_parts.Booster().progress.overall->End();
    if (made || m_parts.undo.Broken() != nullptr) return made;
    m_parts.log.Error("Undo data of the last blocks could not be made: {}", made.Message());
    return {};
}

void BoosterSession::DescribeKeptWork()
{
    m_upkeep.DescribeRest(m_parts.MakesUndoLater() && UndoRun::IsNeeded(*m_parts.chain));
}

void BoosterSession::ServeUndo()
{
    if (m_parts.options.own.undo == UndoWanted::kNo) return;
    m_parts.chain->SetUndoMaker([this] { return m_parts.undo.Ask(); });
}

void BoosterSession::AskForUndo()
{
    if (m_parts.options.own.undo != UndoWanted::kNo) (void)m_parts.undo.Ask();
}

void BoosterSession::StartUndo(std::function<void(const Result<>&)> ended)
{
    if (m_parts.options.own.undo != UndoWanted::kNo) m_parts.undo.Start(std::move(ended));
}

void BoosterSession::Interrupt()
{
    m_parts.watch.Interrupt();
    m_parts.undo.Interrupt();
}

} // namespace ibd
