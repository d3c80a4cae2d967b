// NetInbox: what the thread of the peers is to do: events of sockets and commands of others, in
// order. Owned by PeerNetwork; any thread posts, one takes. What waits in it is bounded by who
// posts: sockets stop reading at -maxreceivebuffer, callers wait for what they posted.
#pragma once

#include "util/mutex.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <utility>

namespace ibd {

class NetInbox {
public:
    using Task = std::function<void()>;

    /** From now on somebody takes. */
    void Open();
    /** False: nobody takes (any more), and the task will not run. */
    bool Post(Task task);
    /** Has TakeAll() return, though there is nothing. */
    void Wake();
    /** Waits for a task or a Wake(), but not for longer. */
    std::deque<Task> TakeAll(std::chrono::milliseconds most);
    /** Who takes is about to leave; false: not yet, as there are tasks. */
    bool Close();

private:
    Mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<Task> m_tasks IBD_GUARDED_BY(m_mutex);
    bool m_open IBD_GUARDED_BY(m_mutex) = false;
    bool m_woken IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd
