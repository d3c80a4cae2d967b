// See chain_thread.h.
#include "validation/chain_thread.h"

namespace ibd {

namespace {

constexpr auto kIdleFlushCheck = std::chrono::seconds(60);
constexpr auto kWatchEvery = std::chrono::milliseconds(250);
constexpr const char* kName = "chain";

} // namespace

ChainThread::ChainThread(ChainManager& chain, std::function<void(const Error&)> fatal,
                         std::function<void()> served)
    : m_chain(chain), m_fatal(std::move(fatal)), m_tell_served(std::move(served)),
      m_thread(kName, [this] { Work(); })
{
}

ChainThread::~ChainThread()
{
    {
        const Lock lock(m_mutex);
        m_stopping = true;
        m_changed.notify_all();
    }
    m_thread.Join();
}

void ChainThread::RunAndWait(std::function<void()> task)
{
    Waiting waiting{std::move(task)};
    const Lock lock(m_mutex);
    CHECK(!m_stopping);
    m_tasks.push_back(&waiting);
    m_pause = true;
    m_changed.notify_all();
    while (!waiting.done) m_changed.wait(m_mutex);
}

void ChainThread::Activate()
{
    const Lock lock(m_mutex);
    const uint64_t mine = ++m_wanted;
    m_changed.notify_all();
    while (m_served < mine) m_changed.wait(m_mutex);
}

void ChainThread::Activate(const std::function<void()>& watch)
{
    const uint64_t mine = ActivateSoon();
    while (m_served < mine) {
        watch();
        const Lock lock(m_mutex);
        if (m_served < mine) m_changed.wait_for(m_mutex, kWatchEvery);
    }
    watch();
}

uint64_t ChainThread::ActivateSoon()
{
    const Lock lock(m_mutex);
    m_changed.notify_all();
    return ++m_wanted;
}

/** False: the thread is to end. */
bool ChainThread::WaitForWork()
{
    const Lock lock(m_mutex);
    const auto timeout = std::chrono::steady_clock::now() + kIdleFlushCheck;
    while (!m_stopping && m_tasks.empty() && m_served == m_wanted) {
        // Nothing is left to connect, but an empty activation flushes if that is due.
        if (m_changed.wait_until(m_mutex, timeout) == std::cv_status::timeout) return true;
    }
    return !m_stopping || !m_tasks.empty();
}

/** False: there was no task. */
bool ChainThread::RunTask()
{
    Waiting* next = nullptr;
    {
        const Lock lock(m_mutex);
        if (m_tasks.empty()) return false;
        next = m_tasks.front();
        m_tasks.pop_front();
        m_pause = !m_tasks.empty();
    }
    next->task();
    const Lock lock(m_mutex);
    next->done = true; // the task's owner may end as soon as the lock is free
    m_changed.notify_all();
    return true;
}

void ChainThread::Connect()
{
    uint64_t wanted = 0;
    {
        const Lock lock(m_mutex);
        wanted = m_wanted;
    }
    const Result<> result = m_chain.ActivateBestChain([this] { return m_pause.load(); });
    if (!result) m_fatal(result.GetError());
    {
        const Lock lock(m_mutex);
        // It may have paused for the tasks: activate again after them.
        if (result && !m_tasks.empty()) return;
        m_served = wanted;
        m_changed.notify_all();
    }
    if (m_tell_served) m_tell_served();
}

void ChainThread::Work()
{
    while (WaitForWork()) {
        if (!RunTask()) Connect();
    }
}

} // namespace ibd
