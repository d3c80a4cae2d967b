// The thread of the peers: commands of other threads run between its rounds, in order, and before
// its start and after its end on the caller's thread. Assertions are made on the test's thread.
#include "net/net_thread.h"

#include <thread>

#include "support/catch.h"

namespace ibd {

namespace {

struct ThreadKit {
    ThreadKit() : log(MakeNullLogger()), thread(*log) {}
    void Start()
    {
        thread.WithoutThread([&] {
            thread.Open();
            thread.Start({[&] {
                              ++rounds;
                              return false;
                          },
                          [&] { tasks_at_last = tasks; }});
        });
    }
    std::thread::id WhereItRuns()
    {
        return thread.Ask([] { return std::this_thread::get_id(); });
    }
    void Stop()
    {
        thread.Interrupt();
        thread.Join();
    }

    std::unique_ptr<Logger> log;
    NetThread thread;
    std::atomic<int> rounds{0};
    int tasks = 0; //!< used by tasks
    int tasks_at_last = -1;
};

} // namespace

TEST_CASE("commands run on the thread of the peers while it runs", "[net_thread]")
{
    ThreadKit kit;
    const auto here = std::this_thread::get_id();
    CHECK(kit.WhereItRuns() == here);
    CHECK_FALSE(kit.thread.Post([] {}));
    kit.Start();
    const auto there = kit.WhereItRuns();
    CHECK(there != here);
    for (int i = 0; i < 100; ++i) CHECK(kit.thread.Post([&kit] { ++kit.tasks; }));
    CHECK(kit.thread.Ask([&] { return kit.tasks; }) == 100); // in order
    kit.Stop();
    CHECK(kit.WhereItRuns() == here);
    CHECK_FALSE(kit.thread.Post([] {}));
    CHECK(kit.rounds > 0);
}

TEST_CASE("tasks from before the end run, then the last task", "[net_thread]")
{
    ThreadKit kit;
    kit.thread.WithoutThread([&] { kit.thread.Open(); });
    for (int i = 0; i < 10; ++i) CHECK(kit.thread.Post([&kit] { ++kit.tasks; }));
    kit.thread.Interrupt();
    kit.Start();
    kit.Stop();
    CHECK(kit.tasks_at_last == 10);
    CHECK(kit.rounds == 0); // no round after the interrupt
}

} // namespace ibd
