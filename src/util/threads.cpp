// See threads.h.
#include "util/threads.h"

#include <algorithm>

#include <fmt/format.h>
#include <pthread.h>

namespace ibd {

namespace {

// Not a std::string: an ending thread may still log after destructors ran.
constexpr size_t kMaxNameInLog = 31;
thread_local char t_name_in_log[kMaxNameInLog + 1] = {};

} // namespace

void SetThreadName(const std::string& name)
{
    (void)::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
    SetThreadNameInLog(name);
}

void SetThreadNameInLog(std::string_view name)
{
    name = name.substr(0, kMaxNameInLog);
    *std::copy(name.begin(), name.end(), t_name_in_log) = '\0';
}

std::string ThreadName() { return t_name_in_log; }

NamedThread::NamedThread(std::string name, std::function<void()> body)
    : m_thread([name = std::move(name), body = std::move(body)] {
          SetThreadName(name);
          body();
      })
{
}

NamedThread& NamedThread::operator=(NamedThread&& other) noexcept
{
    Join();
    m_thread = std::move(other.m_thread);
    return *this;
}

void NamedThread::Join()
{
    if (m_thread.joinable()) m_thread.join();
}

ThreadPool::ThreadPool(const std::string& name, size_t threads)
{
    for (size_t i = 0; i < threads; ++i) {
        m_threads.emplace_back(fmt::format("{}.{:02}", name, i), [this] { Work(); });
    }
}

ThreadPool::~ThreadPool()
{
    {
        const Lock lock(m_mutex);
        m_stopping = true;
    }
    m_changed.notify_all();
    m_threads.clear();
}

/** Nothing: the pool ends. */
std::function<void()> ThreadPool::NextTask()
{
    const Lock lock(m_mutex);
    while (!m_stopping && m_tasks.empty()) m_changed.wait(m_mutex);
    if (m_tasks.empty()) return {};
    auto task = std::move(m_tasks.front());
    m_tasks.pop_front();
    ++m_running;
    m_changed.notify_all();
    return task;
}

void ThreadPool::Work()
{
    while (const auto task = NextTask()) {
        task();
        const Lock lock(m_mutex);
        --m_running;
        m_changed.notify_all();
    }
}

void ThreadPool::Submit(std::function<void()> task)
{
    if (m_threads.empty()) {
        task();
        return;
    }
    const Lock lock(m_mutex);
    while (m_tasks.size() >= kMaxQueued) m_changed.wait(m_mutex);
    m_tasks.push_back(std::move(task));
    m_changed.notify_all();
}

void ThreadPool::Wait()
{
    const Lock lock(m_mutex);
    while (!m_tasks.empty() || m_running > 0) m_changed.wait(m_mutex);
}

void ThreadPool::ParallelFor(size_t count, const std::function<void(size_t)>& body)
{
    std::atomic<size_t> next{0};
    const auto run = [&] {
        for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) body(i);
    };
    Mutex mutex;
    std::condition_variable_any done;
    size_t helpers = count > 1 ? std::min(m_threads.size(), count - 1) : 0;
    for (size_t i = helpers; i > 0; --i) {
        Submit([&] {
            run();
            const Lock lock(mutex);
            --helpers;
            done.notify_all();
        });
    }
    run();
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return helpers == 0; });
}

} // namespace ibd
