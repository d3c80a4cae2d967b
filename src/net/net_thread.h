// NetThread: the thread of the peers, net-msg. It runs tasks of other threads in order (NetInbox),
// and a round of work after each arrival, at least ten times a second. While the thread does not
// run, commands run on their caller's thread, one at a time. Owned by PeerNetwork.
#pragma once

#include "net/net_inbox.h"
#include "util/thread_log.h"
#include "util/threads.h"

#include <atomic>
#include <optional>

namespace ibd {

class NetThread {
public:
    static constexpr std::chrono::milliseconds kRound{100};

    explicit NetThread(Logger& log) : m_log(log) {}

    // Any thread.

    /** False: the thread does not run (any more), and neither will the task. */
    bool Post(NetInbox::Task task) { return m_inbox.Post(std::move(task)); }
    /** Soon another round. */
    void Wake() { m_inbox.Wake(); }
    /** Runs `body` between two rounds, and returns when it has ended. Must not be called from a
     *  task. */
    void Run(const std::function<void()>& body);
    /** The same, with a result. */
    template <typename Body>
    auto Ask(const Body& body)
    {
        std::optional<decltype(body())> value;
        Run([&] { value.emplace(body()); });
        return std::move(*value);
    }
    /** Requests the end of the thread: it runs no more rounds, only tasks. Returns at once. */
    void Interrupt() { m_interrupted = true; }
    bool IsInterrupted() const { return m_interrupted; }

    // The owner's thread.

    /** Runs `body` while no command can run: before Start(), and after Join(). */
    template <typename Body>
    auto WithoutThread(const Body& body)
    {
        const Lock lock(m_quiet);
        return body();
    }
    /** Tasks are accepted from now on, for the thread that is about to start. */
    void Open() { m_inbox.Open(); }
    struct Work {
        std::function<bool()> round; //!< returns whether more can be done at once
        std::function<void()> last;  //!< after the last task
    };
    void Start(Work work);
    /** After Interrupt(): returns when the last task has run. */
    void Join();

private:
    void Loop(const Work& work);

    Logger& m_log;
    std::atomic<bool> m_interrupted{false};
    NetInbox m_inbox;
    Mutex m_quiet;
    NamedThread m_thread;
};

} // namespace ibd
