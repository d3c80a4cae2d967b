// TryMutex: a Mutex (mutex.h) for which a thread need not wait, and which tells whether others do.
// A thread that has to wait looks again and again for some microseconds before it sleeps: sleep and
// waking cost both threads more than most of the pool's checks take.
#pragma once

#include "util/mutex.h"

#include <atomic>
#include <thread>

namespace ibd {

class IBD_THREAD_ANNOTATION(capability("mutex")) TryMutex {
public:
    void lock() IBD_THREAD_ANNOTATION(acquire_capability())
    {
        if (m_mutex.try_lock()) return;
        ++m_waiting;
        if (!LookForIt()) m_mutex.lock();
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
    /** Looks and pauses before a thread sleeps; about five microseconds in all. */
    static constexpr int kLooks = 150;
    static constexpr int kPauses = 4;

    bool LookForIt()
    {
        for (int i = 0; i < kLooks; ++i) {
            for (int j = 0; j < kPauses; ++j) Pause();
            if (m_mutex.try_lock()) return true;
        }
        return false;
    }
    /** Some ten nanoseconds in which the other thread of a processor's core runs alone. */
    static void Pause()
    {
#ifdef __x86_64__
        __builtin_ia32_pause();
#else
        std::this_thread::yield();
#endif
    }

    std::mutex m_mutex;
    std::atomic<int> m_waiting = 0;
};

} // namespace ibd
