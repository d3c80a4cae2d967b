// See fold_start.h.
#include "swiftsync/fold_start.h"

#include "consensus/subsidy.h"
#include "storage/chainstate_builder.h"
#include "util/found.h"

#include <algorithm>

namespace ibd {

namespace {

/** Least useful buffer of a worker. */
constexpr size_t kMinBufferBytes = 4 << 10;

Result<Checkpoint> StartNew(const SyncJob& job)
{
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(job.env, job.options.directory));
    Checkpoint fresh = job.NewCheckpoint();
    IBD_RETURN_IF_ERROR(SaveCheckpoint(job.env, job.options.directory, fresh));
    return fresh;
}

} // namespace

Result<Checkpoint> BeginFold(const SyncJob& job)
{
    const Path& directory = job.options.directory;
    if (!job.options.proves) {
        IBD_RETURN_IF_ERROR(RecoverDb(job.env, job.log, job.options.chainstate));
    }
    auto loaded = LoadCheckpoint(job.env, directory);
    IBD_RETURN_IF_SYSTEM_ERROR(loaded);
    std::string unusable = loaded ? "" : loaded.Message();
    std::optional<Checkpoint> kept = loaded ? std::move(*loaded) : std::nullopt;
    if (kept && kept->published) {
        kept.reset(); // its chainstate is not this job's
    } else if (kept && !job.Owns(*kept)) {
        unusable = "the checkpoint belongs to other hints, options or rules";
    } else if (kept && kept->known_height > job.KnownHeight()) {
        unusable = "signatures above the assumed-valid block were verified in batches";
    } else if (kept) {
        const auto opened = job.OpenRunsOf(*kept);
        IBD_RETURN_IF_SYSTEM_ERROR(opened);
        if (!opened) unusable = opened.Message();
    }
    if (!unusable.empty()) job.log.Warning("Booster: cannot resume: {}", unusable);
    if (!kept || !unusable.empty()) return StartNew(job);
    job.log.Info("Booster: resuming from a checkpoint: {} of {} blocks folded, {} bytes, {} "
                 "coins in {} runs",
                 kept->folded.Count(), kept->terminal_height, kept->totals.bytes,
                 kept->totals.coins, kept->runs.size());
    IBD_RETURN_IF_ERROR(RemoveOtherRuns(job.env, directory, *kept));
    if (kept->known_height != job.KnownHeight()) {
        kept->known_height = job.KnownHeight();
        IBD_RETURN_IF_ERROR(SaveCheckpoint(job.env, directory, *kept));
    }
    return std::move(*kept);
}

Committer MakeCommitter(const SyncJob& job, Checkpoint start, std::atomic<uint64_t>& disk_bytes)
{
    const HintsInfo& hints = job.hints.Info();
    const Amount mined = MaxSupply(job.terminal.height, job.params.consensus);
    return Committer(
        job.env, job.options.directory, std::move(start), job.options.threads,
        job.options.background,
        [&hints, mined](const FoldTotals& totals) { return RefuteTotals(totals, hints, mined); },
        disk_bytes);
}

FoldContext MakeFoldContext(const SyncJob& job, Committer& committer,
                            std::atomic<uint32_t>& next_run, size_t memory_bytes,
                            std::vector<FoldObserver*> observers)
{
    return {
        .env = job.env,
        .params = job.params,
        .blocks = job.blocks,
        .hints = job.hints,
        .first = job.first,
        .rules = job.Rules(),
        .options = job.options,
        .salt = committer.State().salt,
        .unique = job.Unique(),
        .buffer_bytes = std::max(kMinBufferBytes, memory_bytes / job.options.threads),
        .committer = committer,
        .next_run = next_run,
        .observers = std::move(observers),
        .stop = job.stop,
    };
}

} // namespace ibd
