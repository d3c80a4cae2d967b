// TryMutex: a Mutex (mutex.h) for which a thread need not wait, and which tells whether others do.
#pragma once

#include "util/mutex.h"

#include <atomic>

namespace ibd {

class IBD_THREAD_ANNOTATION(capability("mutex")) TryMutex {
public:
    void lock() IBD_THREAD_ANNOTATION(acquire_capability())
    {
        if (m_mutex.try_lock()) return;
        ++m_waiting;
        m_mutex.lock();
        --m_waiting;
    }
    void unlock() IBD_THREAD_ANNOTATION(release_capability()) { m_mutex.unlock(); }
    /** False: another thread holds it. */
    bool try_lock() IBD_THREAD_ANNOTATION(try_acquire_capability(true))
    {
        return m_mutex.try_lock();
    }

    /** Whether a thread waits for it now. */
    bool IsWanted() const { return m_waiting > 0; }

private:
    std::mutex m_mutex;
    std::atomic<int> m_waiting = 0;
};

} // namespace ibd
