// Threads and shared tools: a named thread, a queue bounded by bytes, a pool and a parallel loop.
// Which modules may start threads: doc/architecture.md, "House rules".
#pragma once

#include "util/check.h"
#include "util/mutex.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace ibd {

/** Sets the calling thread's name in the log and in top and gdb; Linux keeps the first 15
 *  characters for top and gdb. */
void SetThreadName(const std::string& name);

/** Sets the name in the log only: top and gdb show the program's name for the main thread. */
void SetThreadNameInLog(std::string_view name);

/** The calling thread's name in the log; empty if it has none. */
std::string ThreadName();

/** A thread with a name, joined on destruction. */
class NamedThread {
public:
    NamedThread() = default;
    NamedThread(std::string name, std::function<void()> body);
    NamedThread(NamedThread&&) = default;
    NamedThread& operator=(NamedThread&& other) noexcept;
    ~NamedThread() { Join(); }
    void Join();

private:
    std::thread m_thread;
};

/** A queue between threads with at most `capacity` bytes; a larger item is accepted when the queue
 *  is empty. Close() lets consumers take the remaining items; Abort() drops them. Neither can be
 *  undone. */
template <typename T>
class BoundedQueue {
public:
    explicit BoundedQueue(size_t capacity) : m_capacity(capacity) {}

    /** Waits for room. False: the queue was closed, and the item is dropped. */
    bool Push(T item, size_t bytes)
    {
        const Lock lock(m_mutex);
        while (!m_closed && !Fits(bytes)) m_room.wait(m_mutex);
        return PushLocked(std::move(item), bytes);
    }

    /** Like Push, but returns false at once if there is no room. */
    bool TryPush(T item, size_t bytes)
    {
        const Lock lock(m_mutex);
        if (!Fits(bytes)) return false;
        return PushLocked(std::move(item), bytes);
    }

    /** Whether a TryPush of this many bytes would succeed. If only one thread pushes, true stays
     *  true until its next push. */
    bool HasRoom(size_t bytes) const
    {
        const Lock lock(m_mutex);
        return Fits(bytes);
    }

    /** The next item, if there is one. */
    std::optional<T> TryPop()
    {
        const Lock lock(m_mutex);
        return PopLocked();
    }

    /** Likewise, but waits for an item for so long at most. */
    std::optional<T> PopWithin(std::chrono::milliseconds time)
    {
        const Lock lock(m_mutex);
        if (!m_closed && m_items.empty()) m_filled.wait_for(m_mutex, time);
        return PopLocked();
    }

    /** Waits for an item; nothing: the queue is closed and empty. */
    std::optional<T> Pop()
    {
        const Lock lock(m_mutex);
        while (!m_closed && m_items.empty()) m_filled.wait(m_mutex);
        return PopLocked();
    }

    /** Accepts no more items; consumers get the queued ones. */
    void Close()
    {
        const Lock lock(m_mutex);
        m_closed = true;
        m_filled.notify_all();
        m_room.notify_all();
    }

    /** Accepts no more items and drops the queued ones. */
    void Abort()
    {
        const Lock lock(m_mutex);
        m_closed = true;
        m_items.clear();
        m_bytes = 0;
        m_filled.notify_all();
        m_room.notify_all();
    }

    bool Closed() const
    {
        const Lock lock(m_mutex);
        return m_closed;
    }
    /** Bytes queued now. */
    size_t BytesQueued() const
    {
        const Lock lock(m_mutex);
        return m_bytes;
    }

private:
    bool Fits(size_t bytes) const IBD_REQUIRES(m_mutex)
    {
        return m_items.empty() || (bytes <= m_capacity && m_bytes <= m_capacity - bytes);
    }
    bool PushLocked(T&& item, size_t bytes) IBD_REQUIRES(m_mutex)
    {
        if (m_closed) return false;
        m_items.emplace_back(std::move(item), bytes);
        m_bytes += bytes;
        m_filled.notify_one();
        return true;
    }
    std::optional<T> PopLocked() IBD_REQUIRES(m_mutex)
    {
        if (m_items.empty()) return std::nullopt;
        std::optional<T> item(std::move(m_items.front().first));
        m_bytes -= m_items.front().second;
        m_items.pop_front();
        m_room.notify_all();
        return item;
    }

    const size_t m_capacity;
    mutable Mutex m_mutex;
    std::condition_variable_any m_filled;
    std::condition_variable_any m_room;
    std::deque<std::pair<T, size_t>> m_items IBD_GUARDED_BY(m_mutex);
    size_t m_bytes IBD_GUARDED_BY(m_mutex) = 0;
    bool m_closed IBD_GUARDED_BY(m_mutex) = false;
};

/** A fixed number of threads, `name`.00 and so on, that run submitted tasks. With 0 threads the
 *  caller runs them. The destructor finishes all submitted tasks. */
class ThreadPool {
public:
    ThreadPool(const std::string& name, size_t threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    size_t ThreadCount() const { return m_threads.size(); }

    /** Runs `task` on a thread of the pool. Waits while kMaxQueued tasks are queued. */
    void Submit(std::function<void()> task);

    /** Runs body(0) ... body(count-1), in any order, on the pool's threads and the caller's;
     *  returns when all are done. Must not be called from a task of the same pool. */
    void ParallelFor(size_t count, const std::function<void(size_t)>& body);

    /** Waits until everything submitted so far has run. */
    void Wait();

    /** Most queued tasks that have not started. */
    static constexpr size_t kMaxQueued = 4096;

private:
    std::function<void()> NextTask();
    void Work();

    Mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<std::function<void()>> m_tasks IBD_GUARDED_BY(m_mutex);
    size_t m_running IBD_GUARDED_BY(m_mutex) = 0;
    bool m_stopping IBD_GUARDED_BY(m_mutex) = false;
    std::vector<NamedThread> m_threads;
};

} // namespace ibd
