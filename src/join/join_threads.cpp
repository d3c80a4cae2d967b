// See join_threads.h.
#include "join/join_threads.h"

#include "util/watched_threads.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kMaxJoinThreads = 4;

} // namespace

size_t JoinThreads(const JoinOptions& options)
{
    return std::min<size_t>(options.threads, kMaxJoinThreads);
}

size_t JoinBytes(const JoinOptions& options)
{
    return std::max(options.memory_bytes / JoinThreads(options), options.least_thread_bytes);
}

JoinMeter::JoinMeter(JoinJob& job, ProgressOptions options, std::function<uint64_t()> done)
    : m_done(std::move(done))
{
    if (!job.options.background) return;
    options.to = job.options.progress;
    m_meter.emplace(job.env, job.log, std::move(options));
}

Result<> RunJoinThreads(JoinJob& job, JoinMeter& meter, const std::function<Result<>()>& work)
{
    if (!job.options.background) return work();
    Mutex mutex;
    Result<> status;
    const auto body = [&](size_t) {
        const Result<> ended = work();
        const Lock lock(mutex);
        if (status) status = ended;
    };
    RunWatched("join", JoinThreads(job.options), body, [&] { meter.Update(); });
    return status;
}

} // namespace ibd
