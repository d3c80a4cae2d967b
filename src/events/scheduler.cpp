// See scheduler.h.
#include "events/scheduler.h"

#include <algorithm>

namespace ibd {

namespace {

int64_t Micros(std::chrono::seconds time)
{
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

} // namespace

void Scheduler::Every(std::chrono::seconds interval, std::function<void()> job)
{
    const Lock lock(m_mutex);
    const int64_t micros = Micros(interval);
    m_jobs.push_back({micros, m_env.MonotonicMicros() + micros, std::move(job)});
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
            next->due = now + next->interval;
            run = next->run;
        }
        run();
    }
}

} // namespace ibd
