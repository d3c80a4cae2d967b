// The booster from checkpoint to the last block folded. See engine_impl.h.
#include "consensus/subsidy.h"
#include "swiftsync/engine_impl.h"
#include "swiftsync/terminal.h"

#include <algorithm>

namespace ibd {

namespace {

/** The least that a worker can do useful work with. */
constexpr size_t kMinBufferBytes = 4 << 10;

} // namespace

std::optional<BlockHash> SyncEngine::Impl::HashAt(int height) const
{
    const HeaderNode* node = terminal.Ancestor(height);
    return node ? std::optional(node->hash) : std::nullopt;
}

FoldRules SyncEngine::Impl::Rules() const
{
    return MakeFoldRules(hints.Info().counting, params.consensus, terminal.height,
                         [&](int height) { return HashAt(height).value_or(BlockHash()); });
}

UniqueCoinbases SyncEngine::Impl::Unique() const
{
    return MakeUniqueCoinbases(params.consensus, terminal.height,
                               HashAt(params.consensus.bip34_height));
}

Result<Verdict> SyncEngine::Impl::Run()
{
    start_micros = env.MonotonicMicros();
    IBD_RETURN_IF_ERROR(CheckReplaceable());
    IBD_RETURN_IF_ERROR(env.CreateDirectories(options.directory));
    IBD_ASSIGN_OR_RETURN(const auto lock, LockBooster(env, options.directory));
    IBD_ASSIGN_OR_RETURN(const auto published, FinishPublished());
    if (published) return *published;
    IBD_ASSIGN_OR_RETURN(const auto known,
                         KnownBadHints(env, options.directory, hints.Info().id, terminal.hash));
    if (known) return Refuse(fmt::format("failed in an earlier run: {}", *known));
    const HeaderNode* bare = nullptr;
    if (options.full_validation) {
        IBD_ASSIGN_OR_RETURN(bare, FirstWithoutUndo(env, blocks, terminal));
    }
    if (bare) {
        return RefuseWithoutUndo(
            fmt::format("block {} at height {} has none", bare->hash.ToHex(), bare->height),
            bare->height);
    }
    WarnIfDiskIsSmall();
    IBD_ASSIGN_OR_RETURN(Outcome outcome, RunOnce());
    if (!outcome.restart) return outcome.verdict;
    log.Warning("Booster: starting over from the blocks");
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(env, options.directory));
    IBD_ASSIGN_OR_RETURN(outcome, RunOnce());
    if (!outcome.restart) return outcome.verdict;
    return SystemError("{} does not keep what is written to it", options.directory.string());
}

/** A run may have died while it cleaned up behind its chainstate: only that is left to do then, if
 *  the chainstate is still as it was. */
Result<std::optional<Verdict>> SyncEngine::Impl::FinishPublished()
{
    const auto found = LoadCheckpoint(env, options.directory);
    if (!found && found.GetError().kind == Error::Kind::kSystem) return found.GetError();
    if (!found || !*found || !(*found)->published || !BelongsHere(**found)) {
        return std::optional<Verdict>();
    }
    IBD_RETURN_IF_ERROR(RecoverPublish(env, log, options.chainstate));
    const auto there = LookAtChainstate(env, log, options.chainstate);
    if (!there) log.Warning("Booster: building anew: {}", there.Message());
    if (!there || there->best != terminal.hash) return std::optional<Verdict>();
    log.Info("Booster: the chainstate was put in place before; removing what led to it");
    const uint64_t coins = (*found)->totals.coins;
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(env, options.directory));
    return std::optional(Accepted(coins));
}

/** Before hours of work, as it is the last step that needs it. */
Result<> SyncEngine::Impl::CheckReplaceable()
{
    const Path& old = options.chainstate;
    IBD_RETURN_IF_ERROR(WorkFolder(old).CheckOurs(env));
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(old));
    if (!there || env.SameFileSystem(old, old.parent_path())) return {};
    return SystemError("'{}' is a mount point, so that no new chainstate can take its place: mount "
                       "the disk elsewhere and make '{}' a symbolic link to a folder on it",
                       old.string(), old.string());
}

/** Only warnings: scripts may be shorter than usual, and a resumed run has part of it already. */
void SyncEngine::Impl::WarnIfDiskIsSmall()
{
    const auto check = [&](const Path& place, const char* what, uint64_t bytes_per_coin) {
        const uint64_t needed = hints.Info().unspent * bytes_per_coin;
        const auto available = env.SpaceAvailable(place);
        if (!available || *available >= needed) return;
        log.Warning("Booster: {} has {} MB free, but {} about {} MB", place.string(),
                    *available / 1'000'000, what, needed / 1'000'000);
    };
    const Path& runs_at = options.directory;
    const Path chainstate_at = options.chainstate.parent_path();
    if (env.SameFileSystem(runs_at, chainstate_at)) {
        check(runs_at, "runs and chainstate take", kRunBytesPerCoin + kTableBytesPerCoin);
    } else {
        check(runs_at, "the runs take", kRunBytesPerCoin);
        check(chainstate_at, "the chainstate takes", kTableBytesPerCoin);
    }
}

Result<SyncEngine::Impl::Outcome> SyncEngine::Impl::RunOnce()
{
    SetState(BoosterState::kFolding);
    load_start_micros = 0;
    for (WorkerCounters& c : counters) {
        for (auto* n : {&c.blocks, &c.outputs, &c.inputs, &c.bytes, &c.checked_bytes, &c.coins}) {
            n->store(0);
        }
    }
    IBD_ASSIGN_OR_RETURN(Checkpoint start, Resume());
    const Amount mined = MaxSupply(terminal.height, params.consensus);
    Committer at_work(env, options.directory, std::move(start), counters.size(), options.background,
                      [this, mined](const FoldTotals& totals) {
                          return RefuteTotals(totals, hints.Info(), mined);
                      });
    {
        const std::lock_guard lock(mutex);
        committer = &at_work;
    }
    auto outcome = FoldAndConclude(at_work);
    const std::lock_guard lock(mutex);
    committer = nullptr;
    return outcome;
}

Result<SyncEngine::Impl::Outcome> SyncEngine::Impl::FoldAndConclude(Committer& at_work)
{
    const FoldRules rules = Rules();
    fold_start_micros = env.MonotonicMicros();
    Result<std::optional<FoldFailure>> failure = FoldAll(at_work, rules);
    const Result<> durable = at_work.Finish();
    if (!failure) return failure.GetError();
    if (!durable) return durable.GetError();
    const bool machine = *failure && (*failure)->kind == FoldFailure::Kind::kMachine;
    if (*failure && (machine || !options.fold_only)) return GiveUp(**failure);
    if (at_work.State().folded.Count() < static_cast<uint32_t>(terminal.height)) {
        if (stop) return Outcome{{VerdictKind::kInterrupted, "interrupted", -1, 0}};
        const std::string why = *failure ? (*failure)->error.message : "blocks are missing";
        return Outcome{{VerdictKind::kIncomplete, why, -1, 0}};
    }
    if (options.fold_only) return Outcome{{VerdictKind::kFolded, "", terminal.height, 0}};
    return Conclude(at_work);
}

Result<SyncEngine::Impl::Outcome> SyncEngine::Impl::GiveUp(const FoldFailure& why)
{
    Outcome outcome;
    switch (why.kind) {
    case FoldFailure::Kind::kMachine: return why.error;
    case FoldFailure::Kind::kBlock:
        SetVerdict(BoosterState::kRefused, why.error.message);
        IBD_RETURN_IF_ERROR(RemoveCheckpoint(env, options.directory));
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

bool SyncEngine::Impl::BelongsHere(const Checkpoint& c) const
{
    return c.network_magic == params.magic && c.hints_id == hints.Info().id &&
           c.terminal_hash == terminal.hash && c.aggregate == options.aggregate &&
           c.full_validation == options.full_validation && c.rules == RulesId() &&
           MakeAggregate(c.aggregate, c.salt)->Load(c.sum).Ok();
}

Result<Checkpoint> SyncEngine::Impl::StartNew()
{
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(env, options.directory));
    Checkpoint fresh;
    fresh.network_magic = params.magic;
    fresh.hints_id = hints.Info().id;
    fresh.terminal_height = hints.Info().terminal_height;
    fresh.terminal_hash = terminal.hash;
    fresh.aggregate = options.aggregate;
    fresh.full_validation = options.full_validation;
    fresh.rules = RulesId();
    env.RandomBytes(fresh.salt);
    fresh.sum = MakeAggregate(fresh.aggregate, fresh.salt)->Serialize();
    fresh.folded = HeightSet(fresh.terminal_height);
    IBD_RETURN_IF_ERROR(SaveCheckpoint(env, options.directory, fresh));
    return fresh;
}

Result<> SyncEngine::Impl::OpenRunsOf(const Checkpoint& from)
{
    runs.clear();
    IBD_ASSIGN_OR_RETURN(runs, OpenRuns(env, options.directory, from.runs, hints.Info().id));
    return {};
}

/** Runs that two mergers can read at once within the memory given. */
size_t SyncEngine::Impl::MostRuns() const
{
    return std::max(options.min_merged_runs, options.memory_bytes / 2 / kRunFrameBytes);
}

/** Where to start: the checkpoint if it is of this run and its runs are whole, else from nothing.
 *  What cannot be read now is not damaged for that: the work stays for a start that can. */
Result<Checkpoint> SyncEngine::Impl::Resume()
{
    IBD_RETURN_IF_ERROR(RecoverPublish(env, log, options.chainstate));
    auto loaded = LoadCheckpoint(env, options.directory);
    if (!loaded && loaded.GetError().kind == Error::Kind::kSystem) return loaded.GetError();
    std::string unusable = loaded ? "" : loaded.Message();
    std::optional<Checkpoint> kept = loaded ? std::move(*loaded) : std::nullopt;
    if (kept && kept->published) {
        kept.reset(); // and its chainstate is not what is wanted now
    } else if (kept && !BelongsHere(*kept)) {
        unusable = "the checkpoint belongs to other hints, options or rules";
    } else if (kept) {
        const Result<> opened = OpenRunsOf(*kept);
        if (!opened && opened.GetError().kind == Error::Kind::kSystem) return opened.GetError();
        if (!opened) unusable = opened.Message();
    }
    if (!unusable.empty()) log.Warning("Booster: cannot go on from before: {}", unusable);
    Checkpoint start;
    if (!kept || !unusable.empty()) {
        IBD_ASSIGN_OR_RETURN(start, StartNew());
    } else {
        start = std::move(*kept);
        log.Info("Booster: going on from a checkpoint: {} of {} blocks folded, {} bytes, {} coins "
                 "in {} runs",
                 start.folded.Count(), start.terminal_height, start.totals.bytes,
                 start.totals.coins, start.runs.size());
        IBD_RETURN_IF_ERROR(RemoveOtherRuns(env, options.directory, start));
    }
    runs.clear(); // closed while folding; opened again for the merge
    const std::lock_guard lock(mutex);
    resumed = start.totals;
    resumed_blocks = start.folded.Count();
    return start;
}

Result<std::optional<FoldFailure>> SyncEngine::Impl::FoldAll(Committer& to, const FoldRules& rules)
{
    const HeightSet& folded = to.State().folded;
    IBD_RETURN_IF_ERROR(supply.Begin(
        [&](int32_t height) { return folded.Contains(static_cast<uint32_t>(height)); }));
    sources.clear();
    for (size_t i = 0; i < options.threads; ++i) sources.push_back(supply.MakeSource());
    total_bytes = supply.EstimatedBytes();
    log.Info("Booster: folding {} blocks up to height {} on {} threads{}", supply.BlocksToFold(),
             terminal.height, options.threads,
             options.full_validation ? ", checking every rule and script" : "");
    std::atomic<uint32_t> next_run = to.State().NextRunNumber();
    const size_t buffer = std::max(kMinBufferBytes, options.memory_bytes / options.threads);
    const FoldContext context{env,      params, blocks, hints,    rules, options, to.State().salt,
                              Unique(), buffer, to,     next_run, stop};
    if (options.background) return RunWorkers(context);
    return FoldWorker(context, 0, counters[0]).Run(*sources[0]);
}

std::optional<FoldFailure> SyncEngine::Impl::RunWorkers(const FoldContext& context)
{
    std::optional<FoldFailure> first;
    const auto work = [&](size_t i) {
        auto failure = FoldWorker(context, i, counters[i]).Run(*sources[i]);
        const std::lock_guard lock(mutex);
        if (failure) {
            supply.Stop(); // the others finish their stretch
            if (!first) first = std::move(failure);
        }
        --running;
        finished.notify_all();
    };
    running = options.threads;
    std::vector<NamedThread> threads;
    for (size_t i = 0; i < options.threads; ++i) {
        threads.emplace_back(fmt::format("booster-{}", i), [&work, i] { work(i); });
    }
    MonitorFolding();
    for (NamedThread& thread : threads) thread.Join();
    return first;
}

SyncEngine::SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                       const BlockStore& blocks, const Hints& hints, BoosterOptions options)
    : m_impl(std::make_unique<Impl>(env, log, params, terminal, blocks, nullptr, hints,
                                    std::move(options)))
{
}

SyncEngine::SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                       const BlockStore& blocks, BlockSupply& supply, const Hints& hints,
                       BoosterOptions options)
    : m_impl(std::make_unique<Impl>(env, log, params, terminal, blocks, &supply, hints,
                                    std::move(options)))
{
}

SyncEngine::~SyncEngine() = default;

Result<Verdict> SyncEngine::Run() { return m_impl->Run(); }

void SyncEngine::Interrupt() { m_impl->stop = true; }

BoosterProgress SyncEngine::Progress() const { return m_impl->Snapshot(); }

} // namespace ibd
