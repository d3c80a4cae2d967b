// Mutex and SharedMutex with their guards, and annotations by which clang checks at compile time
// that guarded members are used only under their lock (-Wthread-safety, on in every clang build;
// gcc ignores them). Guards do not nest: taking a lock twice on one thread hangs.
#pragma once

#include <mutex>
#include <shared_mutex>

#if defined(__clang__)
#define IBD_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define IBD_THREAD_ANNOTATION(x)
#endif

/** A member that may be used only while this lock is held. */
#define IBD_GUARDED_BY(lock) IBD_THREAD_ANNOTATION(guarded_by(lock))
/** A function whose caller must hold these locks; _SHARED: at least for reading. */
#define IBD_REQUIRES(...) IBD_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define IBD_REQUIRES_SHARED(...) IBD_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
/** A function that takes these locks, so its caller must not hold them. */
#define IBD_EXCLUDES(...) IBD_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
/** The order of two locks, for readers of the code: only -Wthread-safety-beta checks it. */
#define IBD_ACQUIRED_AFTER(...) IBD_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))
/** For a function that clang cannot follow; a comment must justify it. */
#define IBD_NO_THREAD_CHECK IBD_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace ibd {

class IBD_THREAD_ANNOTATION(capability("mutex")) Mutex {
public:
    void lock() IBD_THREAD_ANNOTATION(acquire_capability()) { m_mutex.lock(); }
    void unlock() IBD_THREAD_ANNOTATION(release_capability()) { m_mutex.unlock(); }

private:
    std::mutex m_mutex;
};

/** One writer, or any number of readers. */
class IBD_THREAD_ANNOTATION(capability("mutex")) SharedMutex {
public:
    void lock() IBD_THREAD_ANNOTATION(acquire_capability()) { m_mutex.lock(); }
    void unlock() IBD_THREAD_ANNOTATION(release_capability()) { m_mutex.unlock(); }
    void lock_shared() IBD_THREAD_ANNOTATION(acquire_shared_capability()) { m_mutex.lock_shared(); }
    void unlock_shared() IBD_THREAD_ANNOTATION(release_shared_capability())
    {
        m_mutex.unlock_shared();
    }

private:
    std::shared_mutex m_mutex;
};

/** Holds a Mutex, or a SharedMutex for writing. */
template <typename AnyMutex>
class IBD_THREAD_ANNOTATION(scoped_lockable) Lock {
public:
    explicit Lock(AnyMutex& mutex) IBD_THREAD_ANNOTATION(acquire_capability(mutex)) : m_mutex(mutex)
    {
        m_mutex.lock();
    }
    ~Lock() IBD_THREAD_ANNOTATION(release_capability()) { m_mutex.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    AnyMutex& m_mutex;
};

/** Holds a SharedMutex for reading. */
class IBD_THREAD_ANNOTATION(scoped_lockable) SharedLock {
public:
    explicit SharedLock(SharedMutex& mutex) IBD_THREAD_ANNOTATION(acquire_shared_capability(mutex))
        : m_mutex(mutex)
    {
        m_mutex.lock_shared();
    }
    ~SharedLock() IBD_THREAD_ANNOTATION(release_generic_capability()) { m_mutex.unlock_shared(); }
    SharedLock(const SharedLock&) = delete;
    SharedLock& operator=(const SharedLock&) = delete;

private:
    SharedMutex& m_mutex;
};

} // namespace ibd
