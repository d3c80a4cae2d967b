// See fold_phase.h.
#include "swiftsync/fold_phase.h"

#include "consensus/subsidy.h"
#include "storage/chainstate_builder.h"
#include "util/progress.h"
#include "util/watched_threads.h"

#include <algorithm>

namespace ibd {

namespace {

/** The least that a worker can do useful work with. */
constexpr size_t kMinBufferBytes = 4 << 10;

} // namespace

Result<FoldEnd> FoldPhase::Run()
{
    IBD_ASSIGN_OR_RETURN(Checkpoint start, Resume());
    const HintsInfo& hints = m_job.hints.Info();
    const Amount mined = MaxSupply(m_job.terminal.height, m_job.params.consensus);
    Committer committer(
        m_job.env, m_job.options.directory, std::move(start), m_job.options.threads,
        m_job.options.background,
        [&hints, mined](const FoldTotals& totals) { return RefuteTotals(totals, hints, mined); },
        m_progress.DiskBytes());
    auto failure = FoldAll(committer);
    const Result<> durable = committer.Finish();
    if (!failure) return failure.GetError();
    if (!durable) return durable.GetError();
    return FoldEnd{committer.State(), std::move(*failure)};
}

/** Where to start: the checkpoint if it is of this sync and its runs are whole, else from nothing.
 *  What cannot be read now is not damaged for that: the work stays for a start that can. */
Result<Checkpoint> FoldPhase::Resume()
{
    const Path& directory = m_job.options.directory;
    IBD_RETURN_IF_ERROR(RecoverPublish(m_job.env, m_job.log, m_job.options.chainstate));
    auto loaded = LoadCheckpoint(m_job.env, directory);
    if (!loaded && loaded.GetError().kind == Error::Kind::kSystem) return loaded.GetError();
    std::string unusable = loaded ? "" : loaded.Message();
    std::optional<Checkpoint> kept = loaded ? std::move(*loaded) : std::nullopt;
    if (kept && kept->published) {
        kept.reset(); // and its chainstate is not what is wanted now
    } else if (kept && !m_job.Owns(*kept)) {
        unusable = "the checkpoint belongs to other hints, options or rules";
    } else if (kept) {
        const auto opened = m_job.OpenRunsOf(*kept);
        if (!opened && opened.GetError().kind == Error::Kind::kSystem) return opened.GetError();
        if (!opened) unusable = opened.Message();
    }
    if (!unusable.empty()) m_job.log.Warning("Booster: cannot go on from before: {}", unusable);
    if (!kept || !unusable.empty()) return StartNew();
    m_job.log.Info("Booster: going on from a checkpoint: {} of {} blocks folded, {} bytes, {} "
                   "coins in {} runs",
                   kept->folded.Count(), kept->terminal_height, kept->totals.bytes,
                   kept->totals.coins, kept->runs.size());
    IBD_RETURN_IF_ERROR(RemoveOtherRuns(m_job.env, directory, *kept));
    m_progress.Resume(kept->totals, kept->folded.Count());
    return std::move(*kept);
}

Result<Checkpoint> FoldPhase::StartNew()
{
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(m_job.env, m_job.options.directory));
    Checkpoint fresh = m_job.NewCheckpoint();
    IBD_RETURN_IF_ERROR(SaveCheckpoint(m_job.env, m_job.options.directory, fresh));
    m_progress.Resume({}, 0);
    return fresh;
}

Result<std::optional<FoldFailure>> FoldPhase::FoldAll(Committer& committer)
{
    const BoosterOptions& options = m_job.options;
    const HeightSet& folded = committer.State().folded;
    IBD_RETURN_IF_ERROR(m_supply.Begin(
        [&](int32_t height) { return folded.Contains(static_cast<uint32_t>(height)); }));
    for (size_t i = 0; i < options.threads; ++i) m_sources.push_back(m_supply.MakeSource());
    m_progress.BeginFold(m_supply.EstimatedBytes());
    const char* const mode = options.full_validation ? ", checking every rule and script"
                             : m_job.first           ? ", which are checked already: coins only"
                                                     : "";
    m_job.log.Info("Booster: folding {} blocks up to height {} on {} threads{}",
                   m_supply.BlocksToFold(), m_job.terminal.height, options.threads, mode);
    std::atomic<uint32_t> next_run = committer.State().NextRunNumber();
    const FoldContext context{
        .env = m_job.env,
        .params = m_job.params,
        .blocks = m_job.blocks,
        .hints = m_job.hints,
        .first = m_job.first,
        .rules = m_job.Rules(),
        .options = options,
        .salt = committer.State().salt,
        .unique = m_job.Unique(),
        .buffer_bytes = std::max(kMinBufferBytes, options.memory_bytes / options.threads),
        .committer = committer,
        .next_run = next_run,
        .observer = FindObserver(folded),
        .stop = m_job.stop,
    };
    auto failure = options.background
                       ? RunWorkers(context)
                       : FoldWorker(context, 0, m_progress.Worker(0)).Run(*m_sources[0]);
    if (context.observer) context.observer->End();
    return failure;
}

/** Null: nobody wants to see these blocks, or they are not all of them, or not hashed. */
FoldObserver* FoldPhase::FindObserver(const HeightSet& folded) const
{
    FoldObserver* const observer = m_job.options.observer;
    if (!observer || folded.Count() > 0 || m_job.first) return nullptr;
    return observer->Begin(m_job.options.threads) ? observer : nullptr;
}

std::optional<FoldFailure> FoldPhase::RunWorkers(const FoldContext& context)
{
    const uint64_t all_blocks = m_progress.ResumedBlocks() + m_supply.BlocksToFold();
    const uint64_t resumed = m_progress.ResumedBytes();
    ProgressMeter meter(m_job.env, m_job.log,
                        {.label = "Booster: folding",
                         .unit = "bytes",
                         .total = resumed + m_supply.EstimatedBytes(),
                         .start = resumed,
                         .tty = m_job.options.tty});
    const auto watch = [&] {
        meter.Update(m_progress.BytesDone(), m_progress.FoldDetail(all_blocks) + m_supply.Detail());
        if (m_job.stop) m_supply.Stop(); // a source may be waiting for a block
    };
    RunWatched(
        "booster", m_sources.size(), [&](size_t i) { Work(context, i); }, watch);
    const Lock lock(m_mutex);
    return std::move(m_failure);
}

void FoldPhase::Work(const FoldContext& context, size_t number)
{
    auto failure = FoldWorker(context, number, m_progress.Worker(number)).Run(*m_sources[number]);
    if (!failure) return;
    m_supply.Stop(); // the others finish their stretch
    const Lock lock(m_mutex);
    if (!m_failure) m_failure = std::move(failure);
}

} // namespace ibd
