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

    /** The first time after one interval. Before Start(). */
    void Every(std::chrono::seconds interval, std::function<void()> job);
    void Start(const std::string& thread);
    /** Waits for a job under way; no other runs any more. */
    void Stop();
    /** All jobs are due earlier by this time. For tests. */
    void Forward(std::chrono::seconds time);

private:
    struct Job {
        int64_t interval = 0; //!< microseconds
        int64_t due = 0;      //!< MonotonicMicros
        std::function<void()> run;
    };

    void Work();
    /** The job that is due first; null: there is none. */
    Job* Next() IBD_REQUIRES(m_mutex);

    Env& m_env;
    Mutex m_mutex;
    std::condition_variable_any m_changed;
    std::vector<Job> m_jobs IBD_GUARDED_BY(m_mutex);
    bool m_stopped IBD_GUARDED_BY(m_mutex) = false;
    NamedThread m_thread;
};

} // namespace ibd
