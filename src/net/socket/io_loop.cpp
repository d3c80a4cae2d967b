// See io_loop.h.
#include "net/socket/io_loop.h"

#include <event2/event.h>
#include <event2/thread.h>

namespace ibd {

void IoLoop::Free::operator()(event_base* base) const { event_base_free(base); }

void IoLoop::Free::operator()(event* e) const { event_free(e); }

IoLoop::IoLoop()
{
    evthread_use_pthreads();
    m_base.reset(event_base_new());
    CHECK(m_base != nullptr);
    const auto run = [](evutil_socket_t, short, void* self) {
        static_cast<IoLoop*>(self)->RunPosted();
    };
    m_wake.reset(event_new(m_base.get(), -1, EV_PERSIST, run, this));
    CHECK(m_wake != nullptr);
}

IoLoop::~IoLoop()
{
    if (m_started) Stop([] {});
}

void IoLoop::Start(const std::string& thread_name)
{
    CHECK(!m_started);
    m_started = true;
    m_thread = NamedThread(thread_name,
                           [this] { event_base_loop(m_base.get(), EVLOOP_NO_EXIT_ON_EMPTY); });
}

void IoLoop::Post(std::function<void()> task)
{
    {
        const Lock lock(m_mutex);
        if (m_ended) return;
        m_posted.push_back(std::move(task));
        // The first task has woken the loop already.
        if (m_posted.size() > 1) return;
    }
    event_active(m_wake.get(), EV_READ, 0);
}

// Tasks posted by a task run in the next round, so that sockets are served in between.
void IoLoop::RunPosted()
{
    std::deque<std::function<void()>> tasks;
    {
        const Lock lock(m_mutex);
        tasks.swap(m_posted);
    }
    for (const auto& task : tasks) task();
}

void IoLoop::Stop(const std::function<void()>& last)
{
    if (std::exchange(m_started, false)) {
        Post([&] {
            last();
            event_base_loopbreak(m_base.get());
        });
        m_thread.Join();
    } else {
        last();
    }
    const Lock lock(m_mutex);
    m_ended = true;
    m_posted.clear();
}

} // namespace ibd
