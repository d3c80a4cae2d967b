// What follows the fold: verdict, chainstate, publication. See engine_impl.h.
#include "swiftsync/engine_impl.h"
#include "swiftsync/run_merge.h"
#include "swiftsync/terminal.h"

#include <algorithm>

namespace ibd {

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
        IBD_ASSIGN_OR_RETURN(Verdict refused, Refuse(std::move(**wrong), MemoryOfTotals()));
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
    IBD_RETURN_IF_ERROR(Publish(accepted));
    return Outcome{Accepted(report.coins)};
}

Result<LoadReport> SyncEngine::Impl::LoadAndShow(const LoadTask& task)
{
    if (!options.background) return LoadChainstate(env, log, task);
    loading = true; // nobody else is there yet
    ProgressMeter meter(env, log,
                        {.label = "Booster: loading",
                         .unit = "coins",
                         .total = hints.Info().unspent,
                         .terminal = options.terminal});
    NamedThread monitor("booster-meter", [&] { MonitorLoading(meter); });
    auto report = LoadChainstate(env, log, task);
    {
        const std::lock_guard lock(mutex);
        loading = false;
    }
    finished.notify_all();
    return report;
}

/** A crash before the checkpoint says that it is published leaves it, and the next run merges and
 *  publishes again; after it, all that is left to do is to clean up. */
Result<> SyncEngine::Impl::Publish(Checkpoint done)
{
    SetState(BoosterState::kPublishing);
    IBD_RETURN_IF_ERROR(ReplaceChainstate(env, options.chainstate));
    runs.clear();
    done.published = true;
    done.runs.clear();
    IBD_RETURN_IF_ERROR(SaveCheckpoint(env, options.directory, done));
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
        IBD_RETURN_IF_ERROR(
            RememberBadHints(env, options.directory, hints.Info().id, terminal.hash, reason));
    }
    SetVerdict(BoosterState::kRefused, reason);
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(env, options.directory));
    return Verdict{VerdictKind::kHintsWrong, std::move(reason), terminal.height, 0};
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

} // namespace ibd
