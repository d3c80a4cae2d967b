// See side_fold.h.
#include "swiftsync/side_fold.h"

namespace ibd {

Result<std::unique_ptr<SideFold>> SideFold::Begin(Env& env, Logger& log, const ChainParams& params,
                                                  const HeaderNode& terminal,
                                                  const BlockStore& blocks, const Hints& hints,
                                                  BoosterOptions options, const FirstPass& first,
                                                  size_t memory_bytes)
{
    options.threads = std::max(1u, options.threads);
    std::unique_ptr<SyncJob> job(
        new SyncJob{env, log, params, terminal, blocks, hints, std::move(options), nullptr});
    if (!job->CanUse(first)) return std::unique_ptr<SideFold>();
    job->first = &first;
    IBD_RETURN_IF_ERROR(env.CreateDirectories(job->options.directory));
    IBD_ASSIGN_OR_RETURN(auto lock, LockBooster(env, job->options.directory));
    IBD_ASSIGN_OR_RETURN(Checkpoint start, BeginFold(*job));
    return std::unique_ptr<SideFold>(
        new SideFold(std::move(job), std::move(lock), std::move(start), memory_bytes));
}

SideFold::SideFold(std::unique_ptr<SyncJob> job, std::unique_ptr<FileLock> lock, Checkpoint start,
                   size_t memory_bytes)
    : m_job(std::move(job)), m_lock(std::move(lock)), m_taken(start.terminal_height + size_t{1}),
      m_next_run(start.NextRunNumber()),
      m_committer(MakeCommitter(*m_job, std::move(start), m_disk_bytes)),
      m_context(MakeFoldContext(*m_job, m_committer, m_next_run, memory_bytes, {})),
      m_counters(m_job->options.threads)
{
    const HeightSet& folded = m_committer.State().folded;
    for (uint32_t height = 0; height < m_taken.size(); ++height) {
        m_taken[height] = folded.Contains(height);
    }
    for (size_t i = 0; i < m_counters.size(); ++i) {
        m_workers.push_back(std::make_unique<FoldWorker>(m_context, i, m_counters[i]));
    }
}

SideFold::~SideFold() = default;

void SideFold::Take(size_t worker, const HeaderNode& node, PlainBlock& block)
{
    if (m_failed.load(std::memory_order_relaxed)) return;
    if (m_taken[static_cast<size_t>(node.height)].exchange(true)) return;
    if (const auto failure = m_workers[worker]->FoldKnown(node, block)) Fail(failure->error);
}

void SideFold::End()
{
    for (const auto& worker : m_workers) {
        if (const auto failure = worker->Finish()) Fail(failure->error);
    }
    if (const Result<> durable = m_committer.Finish(); !durable) Fail(durable.GetError());
}

/** Stops taking coins; the sync does the rest. */
void SideFold::Fail(const Error& error)
{
    if (m_failed.exchange(true)) return;
    m_job->log.Info("Booster: coins are not taken from blocks that are read for checks any more: "
                    "{}",
                    error.message);
}

} // namespace ibd
