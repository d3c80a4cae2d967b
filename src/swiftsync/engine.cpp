// The booster from checkpoint to chainstate. See engine.h.
#include "swiftsync/engine.h"

#include "storage/chainstate_builder.h"
#include "swiftsync/chainstate_loader.h"
#include "swiftsync/fold_worker.h"
#include "swiftsync/run_merge.h"
#include "swiftsync/terminal.h"
#include "util/progress.h"
#include "util/strings.h"

#include <algorithm>
#include <condition_variable>

namespace ibd {

namespace {

/** The least that a worker can do useful work with. */
constexpr size_t kMinBufferBytes = 4 << 10;
/** Full validation is not bound by the disk; short stretches keep all threads busy to the end. */
constexpr uint64_t kFullStretchBytes = 512 << 10;
/** A usual coin in a run and in a table. */
constexpr uint64_t kRunBytesPerCoin = 64;
constexpr uint64_t kTableBytesPerCoin = 70;
constexpr auto kMonitorInterval = std::chrono::milliseconds(500);

} // namespace

const char* BoosterStateName(BoosterState state)
{
    switch (state) {
    case BoosterState::kIdle: return "idle";
    case BoosterState::kFolding: return "folding";
    case BoosterState::kJudging: return "judging";
    case BoosterState::kLoading: return "loading";
    case BoosterState::kPublishing: return "publishing";
    case BoosterState::kAccepted: return "accepted";
    case BoosterState::kRefused: return "refused";
    }
    return "unknown";
}

struct SyncEngine::Impl {
    Impl(Env& e, Logger& l, const ChainParams& p, const HeaderNode& t, const BlockStore& b,
         const Hints& h, BoosterOptions o)
        : env(e), log(l), params(p), terminal(t), blocks(b), hints(h), options(std::move(o)),
          counters(std::max(1u, options.threads))
    {
        options.threads = static_cast<unsigned>(counters.size());
        CHECK(hints.Info().terminal_height == static_cast<uint32_t>(terminal.height));
        CHECK(terminal.height >= 1);
    }

    /** What a try ended with; `restart` when the disk holds damaged runs. */
    struct Outcome {
        Verdict verdict;
        bool restart = false;
    };

    Result<Verdict> Run();
    Result<Outcome> RunOnce();
    Result<Outcome> FoldAndConclude(Committer& at_work);
    Result<Outcome> GiveUp(const FoldFailure& why);
    Result<> CheckReplaceable();
    void WarnIfDiskIsSmall();
    Result<Checkpoint> Resume();
    Result<> OpenRunsOf(const Checkpoint& state);
    size_t MostRuns() const;
    bool BelongsHere(const Checkpoint& state) const;
    Result<Checkpoint> StartNew();
    Result<std::optional<FoldFailure>> FoldAll(Committer& committer, const FoldRules& rules);
    std::optional<FoldFailure> RunWorkers(const FoldContext& context, BlockPlan& plan);
    void MonitorFolding(const BlockPlan& plan);
    void MonitorLoading();
    std::string FoldDetail(uint64_t all_blocks) const;
    std::string MemoryDetail() const;
    Result<Outcome> Conclude(const Committer& committer);
    Result<std::optional<std::string>> Judge(const Committer& committer);
    Result<> LimitRuns(Checkpoint accepted);
    Result<Outcome> Load(const Checkpoint& accepted);
    Result<LoadReport> LoadAndShow(const LoadTask& task);
    Result<> Publish();
    enum class Memory { kRemember, kForget };
    Result<Verdict> Refuse(std::string reason, Memory memory = Memory::kRemember);
    void SetVerdict(BoosterState final_state, std::string text);
    Result<Verdict> RefuseWithoutUndo(std::string reason, int32_t height);
    Verdict Accepted(uint64_t coins);
    std::optional<BlockHash> HashAt(int height) const;
    FoldRules Rules() const;
    void SetState(BoosterState s) { state.store(s, std::memory_order_relaxed); }
    BoosterProgress Snapshot() const;

    Env& env;
    Logger& log;
    const ChainParams& params;
    const HeaderNode& terminal;
    const BlockStore& blocks;
    const Hints& hints;
    BoosterOptions options;

    std::atomic<bool> stop = false;
    std::atomic<BoosterState> state = BoosterState::kIdle;
    std::vector<WorkerCounters> counters;
    std::atomic<uint64_t> coins_loaded = 0;
    std::atomic<uint64_t> total_bytes = 0; //!< still to read when this run started
    std::atomic<int64_t> start_micros = 0;
    std::atomic<int64_t> fold_start_micros = 0;
    std::atomic<int64_t> load_start_micros = 0; //!< 0 while folding
    std::atomic<int64_t> end_micros = 0;        //!< 0 while at work
    std::vector<RunReader> runs;

    mutable std::mutex mutex;
    std::condition_variable finished;     //!< a worker, or loading, ended
    size_t running = 0;                   //!< workers; guarded by mutex
    bool loading = false;                 //!< guarded by mutex
    FoldTotals resumed;                   //!< guarded by mutex
    uint64_t resumed_blocks = 0;          //!< guarded by mutex
    std::string verdict;                  //!< guarded by mutex
    const Committer* committer = nullptr; //!< guarded by mutex, for its disk use
};

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

Result<Verdict> SyncEngine::Impl::Run()
{
    start_micros = env.MonotonicMicros();
    IBD_RETURN_IF_ERROR(CheckReplaceable());
    IBD_RETURN_IF_ERROR(env.CreateDirectories(options.directory));
    IBD_ASSIGN_OR_RETURN(const auto lock, LockBooster(env, options.directory));
    IBD_ASSIGN_OR_RETURN(const auto known, KnownBadHints(env, options.directory, hints.Info().id));
    if (known) return Refuse(fmt::format("failed in an earlier run: {}", *known));
    const HeaderNode* bare =
        options.full_validation ? FirstWithoutUndo(env, blocks, terminal) : nullptr;
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

/** Before hours of work, as it is the last step that needs it. */
Result<> SyncEngine::Impl::CheckReplaceable()
{
    const Path& old = options.chainstate;
    if (!env.Exists(old) || env.SameFileSystem(old, old.parent_path())) return {};
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
        for (auto* n : {&c.blocks, &c.outputs, &c.inputs, &c.bytes, &c.coins}) n->store(0);
    }
    IBD_ASSIGN_OR_RETURN(Checkpoint start, Resume());
    Committer at_work(env, options.directory, std::move(start), counters.size(),
                      options.background);
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
    if (*failure) return GiveUp(**failure);
    if (at_work.State().folded.Count() < static_cast<uint32_t>(terminal.height)) {
        CHECK(stop);
        return Outcome{{VerdictKind::kInterrupted, "interrupted", -1, 0}};
    }
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
    }
    return outcome;
}

bool SyncEngine::Impl::BelongsHere(const Checkpoint& c) const
{
    return c.network_magic == params.magic && c.hints_id == hints.Info().id &&
           c.terminal_hash == terminal.hash && c.aggregate == options.aggregate &&
           c.full_validation == options.full_validation &&
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

/** Where to start: the checkpoint if it is of this run and its runs are there, else from nothing.
 */
Result<Checkpoint> SyncEngine::Impl::Resume()
{
    IBD_RETURN_IF_ERROR(RecoverPublish(env, options.chainstate));
    auto loaded = LoadCheckpoint(env, options.directory);
    if (!loaded && loaded.GetError().kind == Error::Kind::kSystem) return loaded.GetError();
    std::string unusable = loaded ? "" : loaded.Message();
    std::optional<Checkpoint> kept = loaded ? std::move(*loaded) : std::nullopt;
    if (kept && !BelongsHere(*kept)) {
        unusable = "the checkpoint belongs to other hints or options";
    } else if (kept) {
        if (const Result<> opened = OpenRunsOf(*kept); !opened) unusable = opened.Message();
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
    const uint64_t stretch = options.full_validation ? kFullStretchBytes : BlockPlan::kStretchBytes;
    IBD_ASSIGN_OR_RETURN(const auto plan, BlockPlan::Make(terminal, to.State().folded, stretch));
    total_bytes = plan->EstimatedBytes();
    log.Info("Booster: folding {} blocks up to height {} on {} threads{}", plan->Blocks(),
             terminal.height, options.threads,
             options.full_validation ? ", checking every rule and script" : "");
    std::atomic<uint32_t> next_run = to.State().NextRunNumber();
    const size_t buffer = std::max(kMinBufferBytes, options.memory_bytes / options.threads);
    const uint32_t unique_below = UniqueCoinbasesBelow(params.consensus, terminal.height,
                                                       HashAt(params.consensus.bip34_height));
    const FoldContext context{env,    params,  blocks,          hints,
                              rules,  options, to.State().salt, unique_below,
                              buffer, to,      next_run,        stop};
    if (options.background) return RunWorkers(context, *plan);
    FileBlockStream stream(env, blocks, *plan);
    return FoldWorker(context, 0, counters[0]).Run(stream);
}

std::optional<FoldFailure> SyncEngine::Impl::RunWorkers(const FoldContext& context, BlockPlan& plan)
{
    std::optional<FoldFailure> first;
    const auto work = [&](size_t i) {
        FileBlockStream stream(env, blocks, plan);
        auto failure = FoldWorker(context, i, counters[i]).Run(stream);
        const std::lock_guard lock(mutex);
        if (failure) {
            plan.Stop(); // the others finish their stretch
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
    MonitorFolding(plan);
    for (NamedThread& thread : threads) thread.Join();
    return first;
}

/** Shows progress until the workers are done. */
void SyncEngine::Impl::MonitorFolding(const BlockPlan& plan)
{
    std::unique_lock lock(mutex);
    const uint64_t all_blocks = resumed_blocks + plan.Blocks();
    ProgressMeter meter(env, log,
                        {.label = "Booster: folding",
                         .unit = "bytes",
                         .total = resumed.bytes + plan.EstimatedBytes(),
                         .start = resumed.bytes,
                         .terminal = options.terminal});
    while (running > 0) {
        finished.wait_for(lock, kMonitorInterval);
        uint64_t done = resumed.bytes;
        for (const WorkerCounters& c : counters) done += c.bytes.load(std::memory_order_relaxed);
        meter.Update(done, FoldDetail(all_blocks));
    }
}

/** Shows progress until the chainstate is written. */
void SyncEngine::Impl::MonitorLoading()
{
    ProgressMeter meter(env, log,
                        {.label = "Booster: loading",
                         .unit = "coins",
                         .total = hints.Info().unspent,
                         .terminal = options.terminal});
    std::unique_lock lock(mutex);
    while (loading) {
        finished.wait_for(lock, kMonitorInterval);
        meter.Update(coins_loaded.load(std::memory_order_relaxed), MemoryDetail());
    }
}

/** Needs the mutex. */
std::string SyncEngine::Impl::FoldDetail(uint64_t all_blocks) const
{
    uint64_t blocks_done = resumed_blocks;
    uint64_t outputs = resumed.outputs;
    for (const WorkerCounters& c : counters) {
        blocks_done += c.blocks.load(std::memory_order_relaxed);
        outputs += c.outputs.load(std::memory_order_relaxed);
    }
    return fmt::format("{} of {} blocks, {} outputs, {}", blocks_done, all_blocks, outputs,
                       MemoryDetail());
}

std::string SyncEngine::Impl::MemoryDetail() const
{
    return FormatBytes(env.ResidentBytes()) + " memory";
}

Result<std::optional<std::string>> SyncEngine::Impl::Judge(const Committer& from)
{
    if (auto wrong = JudgeTotals(from.State(), from.Sum(), hints.Info(), params.consensus)) {
        return wrong;
    }
    std::vector<CoinbaseId> ids;
    for (const RunReader& run : runs) {
        IBD_ASSIGN_OR_RETURN(const auto some, run.ReadCoinbases());
        ids.insert(ids.end(), some.begin(), some.end());
    }
    return JudgeCoinbases(std::move(ids));
}

Result<SyncEngine::Impl::Outcome> SyncEngine::Impl::Conclude(const Committer& from)
{
    SetState(BoosterState::kJudging);
    const auto damaged = [this](const Error& error) -> Result<Outcome> {
        if (error.kind == Error::Kind::kSystem) return error;
        log.Warning("Booster: {}", error.message);
        return Outcome{.verdict = {}, .restart = true};
    };
    if (const Result<> opened = OpenRunsOf(from.State()); !opened) {
        return damaged(opened.GetError());
    }
    auto wrong = Judge(from);
    if (!wrong) return damaged(wrong.GetError());
    if (*wrong) {
        // Undo data may be at fault and may be made anew; then the same hints deserve another try.
        const Memory memory = options.full_validation ? Memory::kForget : Memory::kRemember;
        IBD_ASSIGN_OR_RETURN(Verdict refused, Refuse(std::move(**wrong), memory));
        return Outcome{std::move(refused)};
    }
    log.Info("Booster: all checks passed: {} outputs, {} inputs, {} coins",
             from.State().totals.outputs, from.State().totals.inputs, from.State().totals.coins);
    auto loaded = Load(from.State());
    if (!loaded) return damaged(loaded.GetError());
    return loaded;
}

Result<> SyncEngine::Impl::LimitRuns(Checkpoint accepted)
{
    const size_t most = MostRuns();
    if (accepted.runs.size() <= most) return {};
    log.Info("Booster: merging {} runs into {}, as many as the memory given can read at once",
             accepted.runs.size(), most);
    runs.clear();
    IBD_RETURN_IF_ERROR(MergeRunsDownTo(most, env, options.directory, accepted, stop));
    return OpenRunsOf(accepted);
}

Result<SyncEngine::Impl::Outcome> SyncEngine::Impl::Load(const Checkpoint& accepted)
{
    SetState(BoosterState::kLoading);
    IBD_RETURN_IF_ERROR(LimitRuns(accepted));
    LoadTask task;
    task.runs = runs;
    task.chainstate = options.chainstate;
    task.best_block = terminal.hash;
    task.coins = accepted.totals.coins;
    task.obfuscate = options.obfuscate_chainstate;
    task.kind = options.loader;
    task.threads = options.background ? options.threads : 1;
    task.memory_bytes = options.memory_bytes;
    task.min_range_bytes = options.min_range_bytes;
    task.loaded = &coins_loaded;
    task.stop = &stop;
    coins_loaded = 0;
    load_start_micros = env.MonotonicMicros();
    IBD_ASSIGN_OR_RETURN(const LoadReport report, LoadAndShow(task));
    if (report.interrupted) {
        return Outcome{{VerdictKind::kInterrupted, "interrupted", -1, 0}};
    }
    if (report.duplicate) {
        IBD_ASSIGN_OR_RETURN(Verdict refused, Refuse(*report.duplicate));
        return Outcome{std::move(refused)};
    }
    IBD_RETURN_IF_ERROR(Publish());
    return Outcome{Accepted(report.coins)};
}

Result<LoadReport> SyncEngine::Impl::LoadAndShow(const LoadTask& task)
{
    if (!options.background) return LoadChainstate(env, log, task);
    loading = true; // nobody else is there yet
    NamedThread meter("booster-meter", [this] { MonitorLoading(); });
    auto report = LoadChainstate(env, log, task);
    {
        const std::lock_guard lock(mutex);
        loading = false;
    }
    finished.notify_all();
    return report;
}

/** A death in here leaves the checkpoint, and the next run merges and publishes again. */
Result<> SyncEngine::Impl::Publish()
{
    SetState(BoosterState::kPublishing);
    IBD_RETURN_IF_ERROR(ReplaceChainstate(env, options.chainstate));
    runs.clear();
    return RemoveCheckpoint(env, options.directory);
}

void SyncEngine::Impl::SetVerdict(BoosterState final_state, std::string text)
{
    end_micros = env.MonotonicMicros();
    SetState(final_state);
    const std::lock_guard lock(mutex);
    verdict = std::move(text);
}

Verdict SyncEngine::Impl::Accepted(uint64_t coins)
{
    SetVerdict(BoosterState::kAccepted, "accepted");
    log.Info("Booster: chainstate of {} coins at block {} (height {}) is complete", coins,
             terminal.hash.ToHex(), terminal.height);
    return {VerdictKind::kAccepted, "", terminal.height, coins};
}

/** Remembers the hints only if they are what was opened, so that nobody else's contents are
 *  blamed on them; what was folded with other contents is of no use either. */
Result<Verdict> SyncEngine::Impl::Refuse(std::string reason, Memory memory)
{
    runs.clear();
    if (memory == Memory::kRemember) {
        if (const Result<> same = CheckHintsUnchanged(env, hints.Info()); !same) {
            IBD_RETURN_IF_ERROR(RemoveCheckpoint(env, options.directory));
            return same.GetError();
        }
        IBD_RETURN_IF_ERROR(RememberBadHints(env, options.directory, hints.Info().id, reason));
    }
    SetVerdict(BoosterState::kRefused, reason);
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(env, options.directory));
    return Verdict{VerdictKind::kHintsWrong, std::move(reason), terminal.height, 0};
}

Result<Verdict> SyncEngine::Impl::RefuseWithoutUndo(std::string reason, int32_t height)
{
    IBD_ASSIGN_OR_RETURN(
        Verdict refused,
        Refuse("full validation needs undo data of every block: " + reason, Memory::kForget));
    refused.kind = VerdictKind::kNoUndo;
    refused.height = height;
    return refused;
}

namespace {

double Rate(uint64_t done, int64_t micros)
{
    return micros > 0 ? static_cast<double>(done) * 1e6 / static_cast<double>(micros) : 0;
}

std::optional<double> SecondsLeft(uint64_t done, uint64_t total, double rate)
{
    if (rate <= 0) return std::nullopt;
    return static_cast<double>(total - std::min(done, total)) / rate;
}

} // namespace

BoosterProgress SyncEngine::Impl::Snapshot() const
{
    BoosterProgress p;
    p.state = state.load(std::memory_order_relaxed);
    p.terminal_height = terminal.height;
    p.terminal_hash = terminal.hash;
    p.aggregate = options.aggregate;
    p.full_validation = options.full_validation;
    p.hints_id = hints.Info().id;
    p.threads = options.threads;
    p.coins_expected = hints.Info().unspent;
    p.coins_loaded = coins_loaded.load(std::memory_order_relaxed);
    uint64_t fresh_bytes = 0;
    for (const WorkerCounters& c : counters) {
        p.blocks += c.blocks.load(std::memory_order_relaxed);
        p.outputs += c.outputs.load(std::memory_order_relaxed);
        p.inputs += c.inputs.load(std::memory_order_relaxed);
        p.coins += c.coins.load(std::memory_order_relaxed);
        fresh_bytes += c.bytes.load(std::memory_order_relaxed);
    }
    p.memory_bytes = env.ResidentBytes();
    const int64_t now = end_micros.load() ? end_micros.load() : env.MonotonicMicros();
    if (p.state != BoosterState::kIdle) {
        p.seconds_elapsed = static_cast<double>(now - start_micros.load()) / 1e6;
    }
    const uint64_t total = total_bytes.load();
    const int64_t fold_start = fold_start_micros.load();
    const int64_t load_start = load_start_micros.load();
    if (fold_start) {
        const int64_t fold_end = load_start ? load_start : now;
        p.bytes_per_second = Rate(fresh_bytes, fold_end - fold_start);
    }
    if (load_start) p.coins_per_second = Rate(p.coins_loaded, now - load_start);
    if (p.state == BoosterState::kFolding) {
        p.seconds_left = SecondsLeft(fresh_bytes, total, p.bytes_per_second);
    } else if (p.state == BoosterState::kLoading) {
        p.seconds_left = SecondsLeft(p.coins_loaded, p.coins_expected, p.coins_per_second);
    }
    const std::lock_guard lock(mutex);
    p.blocks += resumed_blocks;
    p.resumed_blocks = resumed_blocks;
    p.outputs += resumed.outputs;
    p.inputs += resumed.inputs;
    p.coins += resumed.coins;
    p.bytes = resumed.bytes + fresh_bytes;
    p.total_bytes = resumed.bytes + total;
    p.verdict = verdict;
    if (committer) p.disk_bytes = committer->DiskBytes();
    p.disk_bytes_needed = p.coins_expected * (kRunBytesPerCoin + kTableBytesPerCoin);
    return p;
}

SyncEngine::SyncEngine(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
                       const BlockStore& blocks, const Hints& hints, BoosterOptions options)
    : m_impl(std::make_unique<Impl>(env, log, params, terminal, blocks, hints, std::move(options)))
{
}

SyncEngine::~SyncEngine() = default;

Result<Verdict> SyncEngine::Run() { return m_impl->Run(); }

void SyncEngine::Interrupt() { m_impl->stop = true; }

BoosterProgress SyncEngine::Progress() const { return m_impl->Snapshot(); }

} // namespace ibd
