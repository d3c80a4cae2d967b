// ChainThread: the only thread of a node that changes the chain. It connects blocks, runs tasks of
// other threads between two blocks, and flushes an idle chain at intervals. Owned by the node.
// Called from any thread except its own. Memory: a task for each waiting thread.
#pragma once

#include "util/mutex.h"
#include "util/threads.h"
#include "validation/chain_manager.h"

namespace ibd {

class ChainThread {
public:
    /** `fatal` receives an error from connecting blocks; it should interrupt the chain. `served` is
     *  called on this thread whenever Served() has grown. */
    ChainThread(ChainManager& chain, std::function<void(const Error&)> fatal,
                std::function<void()> served = {});
    /** Runs the remaining tasks. */
    ~ChainThread();
    ChainThread(const ChainThread&) = delete;
    ChainThread& operator=(const ChainThread&) = delete;

    /** Runs `task` between two blocks, waits for its end, and returns its result. It must not
     *  throw, nor wait for another thread that waits for this one. */
    template <typename Task>
    auto Run(Task task)
    {
        std::optional<decltype(task())> value;
        RunAndWait([&] { value.emplace(task()); });
        return std::move(*value);
    }
    /** Connects all that can be connected; waits until that is done or interrupted. */
    void Activate();
    /** The same; while waiting it calls `watch` on the caller's thread a few times a second. */
    void Activate(const std::function<void()>& watch);
    /** The same without waiting; it is done when Served() reaches the returned number. */
    uint64_t ActivateSoon();
    uint64_t Served() const { return m_served; }
    /** Whether a task is waiting. */
    bool HasTasks() const { return m_pause; }

private:
    struct Waiting {
        std::function<void()> task;
        bool done = false;
    };

    void RunAndWait(std::function<void()> task) IBD_EXCLUDES(m_mutex);
    void Work();
    bool WaitForWork() IBD_EXCLUDES(m_mutex);
    bool RunTask() IBD_EXCLUDES(m_mutex);
    void Connect() IBD_EXCLUDES(m_mutex);

    ChainManager& m_chain;
    const std::function<void(const Error&)> m_fatal;
    const std::function<void()> m_tell_served;
    std::atomic<bool> m_pause{false};  //!< there are tasks
    std::atomic<uint64_t> m_served{0}; //!< calls of Activate(); changed under the mutex

    Mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<Waiting*> m_tasks IBD_GUARDED_BY(m_mutex);
    uint64_t m_wanted IBD_GUARDED_BY(m_mutex) = 0; //!< calls of Activate()
    bool m_stopping IBD_GUARDED_BY(m_mutex) = false;
    NamedThread m_thread;
};

} // namespace ibd
