// Scheduler: runs jobs at regular intervals, on one thread. Owned by the node. Jobs are short: they
// delay each other, but never the chain or a peer.
#pragma once

#include "util/env.h"
#include "util/mutex.h"
#include "util/threads.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <vector>

namespace ibd {

class Scheduler {
public:
    explicit Scheduler(Env& env) : m_env(env) {}
    ~Scheduler() { Stop(); }

    /** The first time after one interval. */
    void Every(std::chrono::seconds interval, std::function<void()> job)
    {
        EveryBetween(interval, interval, std::move(job));
    }
    /** Runs the job at random intervals, each at least the first and less than the second bound, so
     *  that others cannot predict its times. */
    void EveryBetween(std::chrono::seconds least, std::chrono::seconds most,
                      std::function<void()> job);
    void Start(const std::string& thread);
    /** Waits for a running job; no other job starts. */
    void Stop();
    /** Advances all due times by this interval. For tests. */
    void Forward(std::chrono::seconds time);

private:
    struct Job {
        int64_t least = 0; //!< interval, microseconds
        int64_t most = 0;
        int64_t due = 0; //!< MonotonicMicros
        std::function<void()> run;
    };

    void Work();
    int64_t NextTime(const Job& job) const;
    /** The job with the earliest due time; null: there is none. */
    Job* Next() IBD_REQUIRES(m_mutex);

    Env& m_env;
    Mutex m_mutex;
    std::condition_variable_any m_changed;
    std::vector<Job> m_jobs IBD_GUARDED_BY(m_mutex);
    bool m_stopped IBD_GUARDED_BY(m_mutex) = false;
    NamedThread m_thread;
};

} // namespace ibd
