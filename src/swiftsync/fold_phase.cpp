// See fold_phase.h.
#include "swiftsync/fold_phase.h"

#include "swiftsync/fold_start.h"
#include "util/watched_threads.h"

namespace ibd {

Result<FoldEnd> FoldPhase::Run()
{
    IBD_ASSIGN_OR_RETURN(Checkpoint start, BeginFold(m_job));
    m_progress.Resume(start.totals, start.folded.Count());
    Committer committer = MakeCommitter(m_job, std::move(start), m_progress.DiskBytes());
    auto failure = FoldAll(committer);
    const Result<> durable = committer.Finish();
    if (!failure) return failure.GetError();
    if (!durable) return durable.GetError();
    return FoldEnd{committer.State(), std::move(*failure)};
}

Found<FoldFailure> FoldPhase::FoldAll(Committer& committer)
{
    const BoosterOptions& options = m_job.options;
    const HeightSet& folded = committer.State().folded;
    IBD_RETURN_IF_ERROR(m_supply.Begin(
        [&](int32_t height) { return folded.Contains(static_cast<uint32_t>(height)); }));
    for (size_t i = 0; i < options.threads; ++i) m_sources.push_back(m_supply.MakeSource());
    m_progress.BeginFold(BytesToFold());
    const char* const mode = options.full_validation ? ", checking every rule and script"
                             : m_job.first           ? ", which are checked already: coins only"
                                                     : "";
    m_job.log.Info("Booster: folding {} blocks up to height {} on {} threads{}",
                   m_supply.BlocksToFold(), m_job.terminal.height, options.threads, mode);
    std::atomic<uint32_t> next_run = committer.State().NextRunNumber();
    const FoldContext context = MakeFoldContext(m_job, committer, next_run, options.memory_bytes,
                                                BeginObservers(folded));
    auto failure = options.background
                       ? RunWorkers(context)
                       : FoldWorker(context, 0, m_progress.Worker(0)).Run(*m_sources[0]);
    for (FoldObserver* observer : context.observers) observer->End();
    return failure;
}

/** The observers of this fold; none if this process does not fold all blocks, or does not hash
 *  them. */
std::vector<FoldObserver*> FoldPhase::BeginObservers(const HeightSet& folded) const
{
    std::vector<FoldObserver*> interested;
    if (folded.Count() > 0 || m_job.first) return interested;
    for (FoldObserver* observer : m_job.options.observers) {
        if (observer->Begin(m_job.options.threads)) interested.push_back(observer);
    }
    return interested;
}

std::optional<FoldFailure> FoldPhase::RunWorkers(const FoldContext& context)
{
    const uint64_t all_blocks = m_progress.ResumedBlocks() + m_supply.BlocksToFold();
    const uint64_t resumed = m_progress.ResumedBytes();
    ProgressMeter meter(m_job.env, m_job.log,
                        {.label = "Booster: folding",
                         .unit = "bytes",
                         .total = resumed + BytesToFold(),
                         .start = resumed,
                         .to = m_job.options.progress,
                         .step = WorkStep::kFold});
    const auto watch = [&] {
        ExpectBytes(meter);
        meter.Update(m_progress.BytesDone(), m_progress.FoldDetail(all_blocks) + m_supply.Detail());
        if (m_job.stop) m_supply.Stop(); // a source may be waiting for a block
    };
    RunWatched(
        "booster", m_sources.size(), [&](size_t i) { Work(context, i); }, watch);
    const Lock lock(m_mutex);
    return std::move(m_failure);
}

/** Estimated from all blocks received so far. */
uint64_t FoldPhase::BytesToFold() const
{
    return m_supply.NewEstimate().value_or(m_supply.EstimatedBytes());
}

/** The received blocks may show that the first estimate was wrong. */
void FoldPhase::ExpectBytes(ProgressMeter& meter) const
{
    const auto bytes = m_supply.NewEstimate();
    if (!bytes) return;
    m_progress.Expect(*bytes);
    const uint64_t total = m_progress.ResumedBytes() + *bytes;
    meter.SetTotal(total);
    OverallProgress* const overall = m_job.options.progress.overall;
    if (overall) overall->SetBytes(total);
}

void FoldPhase::Work(const FoldContext& context, size_t number)
{
    auto failure = FoldWorker(context, number, m_progress.Worker(number)).Run(*m_sources[number]);
    if (!failure) return;
    m_supply.Stop(); // the other workers finish their stretch
    const Lock lock(m_mutex);
    if (!m_failure) m_failure = std::move(failure);
}

} // namespace ibd
