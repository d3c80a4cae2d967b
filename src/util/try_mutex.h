// TryMutex: a Mutex (mutex.h) for which a thread need not wait.
#pragma once

#include "util/mutex.h"

namespace ibd {

class IBD_THREAD_ANNOTATION(capability("mutex")) TryMutex {
public:
    void lock() IBD_THREAD_ANNOTATION(acquire_capability()) { m_mutex.lock(); }
    void unlock() IBD_THREAD_ANNOTATION(release_capability()) { m_mutex.unlock(); }
    /** False: another thread holds it. */
    bool try_lock() IBD_THREAD_ANNOTATION(try_acquire_capability(true))
    {
        return m_mutex.try_lock();
    }

private:
    std::mutex m_mutex;
};

} // namespace ibd
