// See load_phase.h.
#include "swiftsync/load_phase.h"

#include "storage/chainstate_builder.h"
#include "swiftsync/run_merge.h"
#include "util/watched_threads.h"

#include <algorithm>

namespace ibd {

Result<LoadReport> LoadPhase::Run(const Checkpoint& accepted, std::vector<RunReader> runs)
{
    m_runs = std::move(runs);
    IBD_RETURN_IF_ERROR(LimitRuns(accepted));
    LoadTask task;
    task.runs = m_runs;
    task.chainstate = m_job.options.chainstate;
    task.best_block = m_job.terminal.hash;
    task.coins = accepted.totals.coins;
    task.obfuscate = m_job.options.obfuscate_chainstate;
    task.kind = m_job.options.loader;
    task.threads = m_job.options.background ? m_job.options.threads : 1;
    task.memory_bytes = m_job.options.memory_bytes;
    task.min_range_bytes = m_job.options.min_range_bytes;
    task.loaded = &m_progress.CoinsLoaded();
    task.stop = &m_job.stop;
    m_progress.BeginLoad();
    IBD_ASSIGN_OR_RETURN(const LoadReport report, LoadAndShow(task));
    if (!report.interrupted && !report.duplicate) IBD_RETURN_IF_ERROR(Publish(accepted));
    return report;
}

/** Number of runs that two mergers can read at once within the memory. */
size_t LoadPhase::MostRuns() const
{
    const BoosterOptions& options = m_job.options;
    return std::max(options.min_merged_runs, options.memory_bytes / 2 / kRunPageBytes);
}

Result<> LoadPhase::LimitRuns(Checkpoint accepted)
{
    const size_t most = MostRuns();
    if (accepted.runs.size() <= most) return {};
    m_job.log.Info("Booster: merging {} runs into {}, as many as the memory given can read at once",
                   accepted.runs.size(), most);
    m_runs.clear();
    IBD_RETURN_IF_ERROR(
        MergeRunsDownTo(most, m_job.env, m_job.options.directory, accepted, m_job.stop));
    IBD_ASSIGN_OR_RETURN(m_runs, m_job.OpenRunsOf(accepted));
    return {};
}

Result<LoadReport> LoadPhase::LoadAndShow(const LoadTask& task)
{
    if (!m_job.options.background) return LoadChainstate(m_job.env, m_job.log, task);
    ProgressMeter meter(m_job.env, m_job.log,
                        {.label = "Booster: loading",
                         .unit = "coins",
                         .total = m_job.hints.Info().unspent,
                         .to = m_job.options.progress,
                         .step = WorkStep::kLoad});
    const auto watch = [&] {
        meter.Update(m_progress.CoinsLoaded().load(std::memory_order_relaxed),
                     m_progress.MemoryDetail());
    };
    std::optional<Result<LoadReport>> report;
    RunWatched(
        "booster-load", 1, [&](size_t) { report = LoadChainstate(m_job.env, m_job.log, task); },
        watch);
    return std::move(*report);
}

/** After a crash before the checkpoint says that it is published, the next sync merges and
 *  publishes again. After a later crash only cleanup is left. */
Result<> LoadPhase::Publish(Checkpoint done)
{
    m_progress.SetState(FoldState::kPublishing);
    IBD_RETURN_IF_ERROR(ReplaceDb(m_job.env, m_job.options.chainstate));
    m_runs.clear();
    done.published = true;
    done.runs.clear();
    IBD_RETURN_IF_ERROR(SaveCheckpoint(m_job.env, m_job.options.directory, done));
    return RemoveCheckpoint(m_job.env, m_job.options.directory);
}

} // namespace ibd
