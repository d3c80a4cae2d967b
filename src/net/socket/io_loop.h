// IoLoop: libevent's loop on a thread of its own, with a queue of tasks from other threads. Owned
// by the owner of the sockets. The posting code bounds the queue.
#pragma once

#include "util/threads.h"

#include <deque>
#include <memory>

struct event;
struct event_base;

namespace ibd {

class IoLoop {
public:
    IoLoop();
    ~IoLoop();
    IoLoop(const IoLoop&) = delete;
    IoLoop& operator=(const IoLoop&) = delete;

    event_base* Base() const { return m_base.get(); }
    void Start(const std::string& thread_name);
    /** Runs `task` on the loop's thread, soon; any thread. Dropped after the loop has ended. */
    void Post(std::function<void()> task);
    /** Runs `last` on the loop's thread, then ends it. Without Start(), runs it here. */
    void Stop(const std::function<void()>& last);

private:
    struct Free {
        void operator()(event_base* base) const;
        void operator()(event* e) const;
    };
    void RunPosted();

    std::unique_ptr<event_base, Free> m_base;
    std::unique_ptr<event, Free> m_wake;
    Mutex m_mutex;
    std::deque<std::function<void()>> m_posted IBD_GUARDED_BY(m_mutex);
    bool m_ended IBD_GUARDED_BY(m_mutex) = false;
    bool m_started = false;
    NamedThread m_thread;
};

} // namespace ibd
