// NetInbox: the tasks of the thread of the peers: socket events and commands of other threads, in
// order. Owned by PeerNetwork; any thread posts, one takes. Its size is bounded by the posting
// code: sockets stop reading at -maxreceivebuffer, callers wait for their task.
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

    /** Call it before the first TakeAll(): tasks are accepted from now on. */
    void Open();
    /** False: no thread takes tasks (any more), and the task will not run. */
    bool Post(Task task);
    /** Makes TakeAll() return, even if there is no task. */
    void Wake();
    /** Waits for a task or a Wake(), at most this long. */
    std::deque<Task> TakeAll(std::chrono::milliseconds most);
    /** Call it on the taking thread to end it; false: not yet, because there are tasks. */
    bool Close();

private:
    Mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<Task> m_tasks IBD_GUARDED_BY(m_mutex);
    bool m_open IBD_GUARDED_BY(m_mutex) = false;
    bool m_woken IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd
