// See scheduler.h.
#include "events/scheduler.h"

#include "crypto/random_key.h"

#include <algorithm>

namespace ibd {

namespace {

int64_t Micros(std::chrono::seconds time)
{
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

} // namespace

void Scheduler::EveryBetween(std::chrono::seconds least, std::chrono::seconds most,
                             std::function<void()> job)
{
    const Lock lock(m_mutex);
    Job added{Micros(least), Micros(most), 0, std::move(job)};
    added.due = NextTime(added);
    m_jobs.push_back(std::move(added));
    m_changed.notify_all();
}

int64_t Scheduler::NextTime(const Job& job) const
{
    const int64_t earliest = m_env.MonotonicMicros() + job.least;
    if (job.most <= job.least) return earliest;
    const auto spread = static_cast<uint64_t>(job.most - job.least);
    return earliest + static_cast<int64_t>(Random64(m_env) % spread);
}

void Scheduler::Start(const std::string& thread)
{
    m_thread = NamedThread(thread, [this] { Work(); });
}

void Scheduler::Stop()
{
    {
        const Lock lock(m_mutex);
        m_stopped = true;
        m_changed.notify_all();
    }
    m_thread.Join();
}

void Scheduler::Forward(std::chrono::seconds time)
{
    const Lock lock(m_mutex);
    for (Job& job : m_jobs) job.due -= Micros(time);
    m_changed.notify_all();
}

Scheduler::Job* Scheduler::Next()
{
    const auto next = std::min_element(m_jobs.begin(), m_jobs.end(),
                                       [](const Job& a, const Job& b) { return a.due < b.due; });
    return next == m_jobs.end() ? nullptr : &*next;
}

void Scheduler::Work()
{
    while (true) {
        std::function<void()> run;
        {
            const Lock lock(m_mutex);
            if (m_stopped) return;
            Job* const next = Next();
            const int64_t now = m_env.MonotonicMicros();
            if (next == nullptr) {
                m_changed.wait(m_mutex);
                continue;
            }
            if (next->due > now) {
                m_changed.wait_for(m_mutex, std::chrono::microseconds(next->due - now));
                continue;
            }
            next->due = NextTime(*next);
            run = next->run;
        }
        run();
    }
}

} // namespace ibd
