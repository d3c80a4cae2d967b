// See committer.h.
#include "swiftsync/committer.h"

namespace ibd {

Committer::Committer(Env& env, Path directory, Checkpoint state, size_t workers, bool background,
                     Refute refute, std::atomic<uint64_t>& disk_bytes)
    : m_env(env), m_directory(std::move(directory)), m_state(std::move(state)),
      m_sum(MakeAggregate(m_state.aggregate, m_state.salt)), m_log(env, m_directory),
      m_disk_bytes(disk_bytes), m_refute(std::move(refute)), m_announced(m_state.totals),
      m_pending(workers), m_queue(workers), m_background(background)
{
    CHECK(m_sum->Load(m_state.sum).Ok());
    uint64_t bytes = 0;
    for (const RunInfo& run : m_state.runs) bytes += run.size;
    m_disk_bytes = bytes;
    if (m_background) m_thread = NamedThread("booster-commit", [this] { Work(); });
}

Committer::~Committer()
{
    m_queue.Abort();
    m_thread.Join();
}

Result<> Committer::Announce(const FoldTotals& epoch)
{
    const Lock lock(m_mutex);
    m_announced.Add(epoch);
    if (const auto wrong = m_refute(m_announced)) return BadData("{}", *wrong);
    return {};
}

Result<> Committer::Submit(Epoch epoch)
{
    if (!m_background) {
        IBD_RETURN_IF_ERROR(FirstError());
        Result<> done = Commit(epoch);
        if (!done) Fail(done.GetError());
        return done;
    }
    {
        const Lock lock(m_mutex);
        while (!m_error && m_pending[epoch.worker]) m_durable.wait(m_mutex);
        if (m_error) return *m_error;
        m_pending[epoch.worker] = true;
    }
    m_queue.Push(std::move(epoch), 1); // at most one for each worker, so there is space
    return FirstError();
}

void Committer::SetDurable(size_t worker)
{
    const Lock lock(m_mutex);
    m_pending[worker] = false;
    m_durable.notify_all();
}

Result<> Committer::Finish()
{
    m_queue.Close();
    m_thread.Join();
    return FirstError();
}

void Committer::Work()
{
    while (auto epoch = m_queue.Pop()) {
        const Result<> done = Commit(*epoch);
        if (!done) return Fail(done.GetError());
        SetDurable(epoch->worker);
    }
}

// Syncs the run before the checkpoint that names it. A crash in between leaves an unnamed run,
// which the next start removes.
Result<> Committer::Commit(Epoch& epoch)
{
    if (epoch.source) IBD_RETURN_IF_ERROR(epoch.source->Sync());
    if (epoch.has_run) {
        IBD_RETURN_IF_ERROR(epoch.run.file->Sync());
        epoch.run.file.reset();
        // The run's directory entry must be durable before a checkpoint names it.
        IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_directory));
        m_state.runs.push_back(epoch.run.info);
        m_disk_bytes.fetch_add(epoch.run.info.size, std::memory_order_relaxed);
    }
    auto sum = MakeAggregate(m_state.aggregate, m_state.salt);
    CHECK(sum->Load(epoch.sum).Ok());
    m_sum->Combine(*sum);
    m_state.sum = m_sum->Serialize();
    m_state.totals.Add(epoch.totals);
    for (const uint32_t height : epoch.heights) CHECK(m_state.folded.Insert(height));
    CheckpointEntry added{m_state.sum, m_state.totals, std::nullopt, std::move(epoch.heights)};
    if (epoch.has_run) added.run = epoch.run.info;
    return m_log.Save(m_state, added);
}

Result<> Committer::FirstError() const
{
    const Lock lock(m_mutex);
    return m_error ? Result<>(*m_error) : Result<>();
}

void Committer::Fail(const Error& error)
{
    const Lock lock(m_mutex);
    if (!m_error) m_error = error;
    m_durable.notify_all();
}

} // namespace ibd
