// See net_thread.h.
#include "net/net_thread.h"

#include <future>
#include <memory>

namespace ibd {

void NetThread::Run(const std::function<void()>& body)
{
    // Shared, as the thread of the peers may still be returning from it when the caller continues.
    const auto task = std::make_shared<std::packaged_task<void()>>(body);
    auto done = task->get_future();
    if (m_inbox.Post([task] { (*task)(); })) return done.wait();
    {
        const Lock lock(m_quiet);
        // The thread may have started while this one waited for the lock.
        if (!m_inbox.Post([task] { (*task)(); })) return body();
    }
    done.wait();
}

void NetThread::Start(Work work)
{
    m_thread = NamedThread("net-msg", [this, work = std::move(work)] { Loop(work); });
}

void NetThread::Join()
{
    m_inbox.Wake();
    m_thread.Join();
}

void NetThread::Loop(const Work& work)
{
    const ThreadLines lines(m_log, "msghand");
    bool more = false;
    do {
        for (const auto& task : m_inbox.TakeAll(more ? std::chrono::milliseconds(0) : kRound)) {
            task();
        }
        if (!m_interrupted) more = work.round();
    } while (!m_interrupted || !m_inbox.Close());
    work.last();
}

} // namespace ibd
