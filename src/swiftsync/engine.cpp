// See engine.h. The order of a sync's phases, and its verdict; the phases are FoldPhase and
// LoadPhase.
#include "swiftsync/engine.h"

#include "storage/chainstate_builder.h"
#include "swiftsync/file_block_source.h"
#include "swiftsync/fold_phase.h"
#include "swiftsync/load_phase.h"
#include "util/found.h"

#include <algorithm>

namespace ibd {

const char* FoldStateName(FoldState state)
{
    switch (state) {
    case FoldState::kIdle: return "idle";
    case FoldState::kFolding: return "folding";
    case FoldState::kJudging: return "judging";
    case FoldState::kLoading: return "loading";
    case FoldState::kPublishing: return "publishing";
    case FoldState::kAccepted: return "accepted";
    case FoldState::kRefused: return "refused";
    }
    return "unknown";
}

namespace {

/** Full validation is bound by CPU, not by disk; short stretches keep all threads busy to the end.
 */
constexpr uint64_t kFullStretchBytes = 512 << 10;

/** The end of a try; `restart`: runs on disk are damaged. */
struct Outcome {
    Verdict verdict;
    bool restart = false;
};

/** The way in which refused hints are remembered. */
enum class Memory {
    kRemember, //!< wrong, whether or not the blocks are valid
    kSuspect,  //!< wrong if the blocks are valid
    kForget,   //!< not known to be wrong
};

BoosterOptions Normalized(BoosterOptions options)
{
    options.threads = std::max(1u, options.threads);
    return options;
}

/** Warns instead of failing: scripts may be shorter than usual, and a resumed sync has written a
 *  part already. */
void WarnIfDiskIsSmall(const SyncJob& job)
{
    const auto check = [&](const Path& place, const char* what, uint64_t bytes_per_coin) {
        const uint64_t needed = job.hints.Info().unspent * bytes_per_coin;
        const auto available = job.env.SpaceAvailable(place);
        if (!available || *available >= needed) return;
        job.log.Warning("Booster: {} has {} MB free, but {} about {} MB", place.string(),
                        *available / 1'000'000, what, needed / 1'000'000);
    };
    const Path& runs_at = job.options.directory;
    const Path chainstate_at = job.options.chainstate.parent_path();
    if (job.env.SameFileSystem(runs_at, chainstate_at)) {
        check(runs_at, "runs and chainstate take", kRunBytesPerCoin + kTableBytesPerCoin);
    } else {
        check(runs_at, "the runs take", kRunBytesPerCoin);
        check(chainstate_at, "the chainstate takes", kTableBytesPerCoin);
    }
}

/** The failed check of the hints, if any. */
std::optional<std::string> JudgeHints(const SyncJob& job, const Checkpoint& folded)
{
    const auto sum = MakeAggregate(folded.aggregate, folded.salt);
    CHECK(sum->Load(folded.sum).Ok());
    return JudgeTotals(folded, *sum, job.hints.Info(), job.params.consensus,
                       job.options.coins_supplied ? "spent coins of peers" : "undo data");
}

/** The reason, if any, why the sum proves nothing. Bad data: a run is damaged. */
Found<std::string> JudgeChain(std::span<const RunReader> runs)
{
    std::vector<CoinbaseId> ids;
    for (const RunReader& run : runs) {
        IBD_ASSIGN_OR_RETURN(const auto some, run.ReadCoinbases());
        ids.insert(ids.end(), some.begin(), some.end());
    }
    return JudgeCoinbases(std::move(ids));
}

} // namespace

struct SyncEngine::Impl {
    /** `s`: null: the stored blocks that the index names. */
    Impl(Env& e, Logger& l, const ChainParams& p, const HeaderNode& t, const BlockStore& b,
         BlockSupply* s, const Hints& h, BoosterOptions o, const FirstPass* f)
        : job{e, l, p, t, b, h, Normalized(std::move(o)), nullptr}, progress(job),
          stored(e, b, t,
                 job.options.full_validation ? PlanOrder::OfFiles(kFullStretchBytes)
                                             : PlanOrder::OfFiles(),
                 &l),
          supply(s ? *s : stored)
    {
        CHECK(h.Info().terminal_height == static_cast<uint32_t>(t.height));
        CHECK(t.height >= 1);
        if (f && job.CanUse(*f)) job.first = f;
        if (f && !job.first) {
            l.Info("Booster: the first pass over the blocks had other options or rules: they are "
                   "checked again");
        }
    }

    Result<Verdict> Run();
    Found<Verdict> FinishPublished();
    Found<std::string> FailedBefore() const;
    Result<Outcome> RunOnce();
    Result<Outcome> Conclude(const FoldEnd& fold);
    struct Loaded {
        std::optional<std::string> wrong;            //!< the failed check
        VerdictKind kind = VerdictKind::kHintsWrong; //!< the verdict if a check failed
        Memory memory = Memory::kRemember;
        bool interrupted = false;
        uint64_t coins = 0;
    };
    Result<Loaded> JudgeAndLoad(const Checkpoint& folded);
    Result<Loaded> Prove(Checkpoint folded);
    Result<Outcome> GiveUp(const FoldFailure& why);
    /** For impossible totals: a block may be invalid, so the hints are suspect only. With full
     *  validation undo data may be wrong and can be made again; the same hints are tried again. */
    Memory MemoryOfTotals() const
    {
        return job.options.full_validation ? Memory::kForget : Memory::kSuspect;
    }
    Result<Verdict> Refuse(std::string reason, Memory memory = Memory::kRemember);
    Result<> KeepInMind(const std::string& reason, Memory memory);
    Result<> DropWork();
    Result<Verdict> RefuseWithoutUndo(const std::string& reason, int32_t height);
    Verdict Accepted(uint64_t coins);

    SyncJob job;
    SyncProgress progress;
    FileBlockSupply stored;
    BlockSupply& supply;
};

Result<Verdict> SyncEngine::Impl::Run()
{
    progress.Begin();
    const bool proves = job.options.proves != nullptr;
    if (!proves) IBD_RETURN_IF_ERROR(CheckReplaceable(job.env, job.options.chainstate));
    IBD_RETURN_IF_ERROR(job.env.CreateDirectories(job.options.directory));
    IBD_ASSIGN_OR_RETURN(const auto lock, LockBooster(job.env, job.options.directory));
    IBD_ASSIGN_OR_RETURN(const auto published, FinishPublished());
    if (published) return *published;
    IBD_ASSIGN_OR_RETURN(const auto known, FailedBefore());
    if (known) return Refuse(fmt::format("failed in an earlier sync: {}", *known));
    const HeaderNode* bare = nullptr;
    if (job.options.full_validation && !job.options.coins_supplied) {
        IBD_ASSIGN_OR_RETURN(bare, FirstWithoutUndo(job.env, job.blocks, job.terminal));
    }
    if (bare) {
        return RefuseWithoutUndo(
            fmt::format("block {} at height {} has none", bare->hash.ToHex(), bare->height),
            bare->height);
    }
    if (!proves) WarnIfDiskIsSmall(job);
    IBD_ASSIGN_OR_RETURN(Outcome outcome, RunOnce());
    if (!outcome.restart) return outcome.verdict;
    job.log.Warning("Booster: starting over from the blocks");
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(job.env, job.options.directory));
    IBD_ASSIGN_OR_RETURN(outcome, RunOnce());
    if (!outcome.restart) return outcome.verdict;
    return SystemError("{} does not keep written data", job.options.directory.string());
}

/** Resumes after a crash between publishing and cleanup: only cleanup is left if the chainstate is
 *  still the published one. */
Found<Verdict> SyncEngine::Impl::FinishPublished()
{
    if (job.options.proves) return std::nullopt;
    const auto found = LoadCheckpoint(job.env, job.options.directory);
    IBD_RETURN_IF_SYSTEM_ERROR(found);
    if (!found || !*found || !(*found)->published || !job.Owns(**found)) {
        return std::nullopt;
    }
    IBD_RETURN_IF_ERROR(RecoverDb(job.env, job.log, job.options.chainstate));
    const auto there = LookAtChainstate(job.env, job.log, job.options.chainstate);
    if (!there) job.log.Warning("Booster: building anew: {}", there.Message());
    if (!there || there->best != job.terminal.hash) return std::nullopt;
    job.log.Info("Booster: the chainstate was put in place before; removing the files of its sync");
    const uint64_t coins = (*found)->totals.coins;
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(job.env, job.options.directory));
    return Accepted(coins);
}

/** The remembered reason why these hints failed before, if any. */
Found<std::string> SyncEngine::Impl::FailedBefore() const
{
    if (!job.options.remember_bad) return std::optional<std::string>();
    return KnownBadHints(job.env, job.options.directory, job.hints.Info().id, job.terminal.hash);
}

Result<Outcome> SyncEngine::Impl::RunOnce()
{
    progress.BeginTry();
    IBD_ASSIGN_OR_RETURN(const FoldEnd fold, FoldPhase(job, supply, progress).Run());
    auto outcome = Conclude(fold);
    progress.DiskBytes() = 0;
    return outcome;
}

Result<Outcome> SyncEngine::Impl::Conclude(const FoldEnd& fold)
{
    const auto& failure = fold.failure;
    const bool machine = failure && failure->kind == FoldFailure::Kind::kMachine;
    if (failure && (machine || !job.options.fold_only)) return GiveUp(*failure);
    if (fold.state.folded.Count() < static_cast<uint32_t>(job.terminal.height)) {
        if (job.stop) return Outcome{{VerdictKind::kInterrupted, "interrupted", -1, 0}};
        const std::string why = failure ? failure->error.message : "blocks are missing";
        return Outcome{{VerdictKind::kIncomplete, why, -1, 0}};
    }
    if (job.options.fold_only) return Outcome{{VerdictKind::kFolded, "", job.terminal.height, 0}};
    auto loaded = JudgeAndLoad(fold.state);
    IBD_RETURN_IF_SYSTEM_ERROR(loaded);
    if (!loaded) {
        job.log.Warning("Booster: {}", loaded.Message());
        return Outcome{.verdict = {}, .restart = true};
    }
    if (loaded->interrupted) return Outcome{{VerdictKind::kInterrupted, "interrupted", -1, 0}};
    if (!loaded->wrong) return Outcome{Accepted(loaded->coins)};
    IBD_ASSIGN_OR_RETURN(Verdict refused, Refuse(std::move(*loaded->wrong), loaded->memory));
    refused.kind = loaded->kind;
    return Outcome{std::move(refused)};
}

/** Bad data: runs are damaged. */
Result<SyncEngine::Impl::Loaded> SyncEngine::Impl::JudgeAndLoad(const Checkpoint& folded)
{
    progress.SetState(FoldState::kJudging);
    IBD_ASSIGN_OR_RETURN(auto runs, job.OpenRunsOf(folded));
    if (auto wrong = JudgeHints(job, folded)) {
        return Loaded{.wrong = std::move(wrong), .memory = MemoryOfTotals()};
    }
    IBD_ASSIGN_OR_RETURN(auto repeated, JudgeChain(runs));
    if (repeated) {
        return Loaded{.wrong = std::move(repeated),
                      .kind = VerdictKind::kUnprovable,
                      .memory = Memory::kForget}; // does not count against the hints
    }
    job.log.Info("Booster: all checks passed: {} outputs, {} inputs, {} coins",
                 folded.totals.outputs, folded.totals.inputs, folded.totals.hinted);
    if (job.options.proves) return Prove(folded);
    progress.SetState(FoldState::kLoading);
    IBD_ASSIGN_OR_RETURN(LoadReport report, LoadPhase(job, progress).Run(folded, std::move(runs)));
    return Loaded{.wrong = std::move(report.duplicate),
                  .memory = MemoryOfTotals(),
                  .interrupted = report.interrupted,
                  .coins = report.coins};
}

/** The checkpoint stays as the durable proof. */
Result<SyncEngine::Impl::Loaded> SyncEngine::Impl::Prove(Checkpoint folded)
{
    folded.published = true;
    const Result<> saved = SaveCheckpoint(job.env, job.options.directory, folded);
    if (!saved) return saved.GetError();
    Loaded proven;
    proven.coins = folded.totals.hinted;
    return proven;
}

Result<Outcome> SyncEngine::Impl::GiveUp(const FoldFailure& why)
{
    Outcome outcome;
    switch (why.kind) {
    case FoldFailure::Kind::kMachine: return why.error;
    case FoldFailure::Kind::kBlock:
        progress.Conclude(FoldState::kRefused, why.error.message);
        IBD_RETURN_IF_ERROR(RemoveCheckpoint(job.env, job.options.directory));
        outcome.verdict = {VerdictKind::kBlockInvalid, why.error.message, why.height, 0};
        break;
    case FoldFailure::Kind::kUndo: {
        IBD_ASSIGN_OR_RETURN(outcome.verdict, RefuseWithoutUndo(why.error.message, why.height));
        break;
    }
    case FoldFailure::Kind::kHints: {
        IBD_ASSIGN_OR_RETURN(outcome.verdict, Refuse(why.error.message));
        break;
    }
    case FoldFailure::Kind::kTotals: {
        IBD_ASSIGN_OR_RETURN(outcome.verdict, Refuse(why.error.message, MemoryOfTotals()));
        break;
    }
    }
    return outcome;
}

Verdict SyncEngine::Impl::Accepted(uint64_t coins)
{
    progress.Conclude(FoldState::kAccepted, "accepted");
    if (job.options.proves) return {VerdictKind::kDone, "", job.terminal.height, coins};
    job.log.Info("Booster: chainstate of {} coins at block {} (height {}) is complete", coins,
                 job.terminal.hash.ToHex(), job.terminal.height);
    return {VerdictKind::kDone, "", job.terminal.height, coins};
}

/** Remembers the hints as bad only if the file is unchanged since it was opened, so that its new
 *  contents are not blamed. Work with changed contents is dropped. */
Result<> SyncEngine::Impl::KeepInMind(const std::string& reason, Memory memory)
{
    if (memory == Memory::kForget || job.options.proves) return {};
    if (const Result<> same = CheckHintsUnchanged(job.env, job.hints.Info()); !same) {
        IBD_RETURN_IF_ERROR(DropWork());
        return same.GetError();
    }
    if (memory == Memory::kSuspect || !job.options.remember_bad) return {};
    return RememberBadHints(job.env, job.options.directory, job.hints.Info().id, job.terminal.hash,
                            reason);
}

/** Removes the checkpoint, unless it is of other hints: a later sync can resume that. */
Result<> SyncEngine::Impl::DropWork()
{
    const auto found = LoadCheckpoint(job.env, job.options.directory);
    IBD_RETURN_IF_SYSTEM_ERROR(found);
    if (found && *found && !job.Owns(**found)) return {};
    return RemoveCheckpoint(job.env, job.options.directory);
}

Result<Verdict> SyncEngine::Impl::Refuse(std::string reason, Memory memory)
{
    IBD_RETURN_IF_ERROR(KeepInMind(reason, memory));
    progress.Conclude(FoldState::kRefused, reason);
    if (!job.options.proves) IBD_RETURN_IF_ERROR(DropWork());
    return Verdict{.kind = VerdictKind::kHintsWrong,
                   .reason = std::move(reason),
                   .height = job.terminal.height,
                   .suspect = memory == Memory::kSuspect,
                   .doubtful = memory == Memory::kForget};
}

Result<Verdict> SyncEngine::Impl::RefuseWithoutUndo(const std::string& reason, int32_t height)
{
    IBD_ASSIGN_OR_RETURN(
        Verdict refused,
        Refuse("full validation needs undo data of every block: " + reason, Memory::kForget));
    refused.kind = VerdictKind::kNoUndo;
    refused.height = height;
    return refused;
}

SyncEngine::SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                       const BlockStore& blocks, const Hints& hints, BoosterOptions options,
                       const FirstPass* first)
    : m_impl(std::make_unique<Impl>(env, log, params, terminal, blocks, nullptr, hints,
                                    std::move(options), first))
{
}

SyncEngine::SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                       const BlockStore& blocks, BlockSupply& supply, const Hints& hints,
                       BoosterOptions options)
    : m_impl(std::make_unique<Impl>(env, log, params, terminal, blocks, &supply, hints,
                                    std::move(options), nullptr))
{
}

SyncEngine::~SyncEngine() = default;

Result<Verdict> SyncEngine::Run() { return m_impl->Run(); }

void SyncEngine::Interrupt() { m_impl->job.stop = true; }

FoldProgress SyncEngine::Progress() const { return m_impl->progress.Snapshot(); }

} // namespace ibd
