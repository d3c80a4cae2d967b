// Queue, pool and parallel loop under several threads.
#include "util/thread_priority.h"
#include "util/thread_slices.h"
#include "util/threads.h"
#include "util/try_mutex.h"

#include <numeric>

#include <sched.h>
#include <sys/resource.h>

#include "support/catch.h"

using namespace ibd;

// Short and long waits: a thread gets the mutex while it looks for it, or after it has slept.
TEST_CASE("a mutex that others want has one owner at a time, and is wanted until all had it")
{
    constexpr int kThreads = 4, kTurns = 2'000, kLongTurn = 200;
    TryMutex mutex;
    int owners = 0, turns = 0;
    bool shared = false;
    mutex.lock();
    {
        std::vector<NamedThread> threads;
        for (int t = 0; t < kThreads; ++t) {
            threads.emplace_back("owner", [&] {
                for (int i = 1; i <= kTurns; ++i) {
                    mutex.lock();
                    shared = shared || ++owners != 1;
                    if (i % kLongTurn == 0) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    }
                    ++turns;
                    --owners;
                    mutex.unlock();
                }
            });
        }
        while (!mutex.IsWanted()) std::this_thread::yield();
        CHECK_FALSE(mutex.try_lock());
        CHECK(turns == 0);
        mutex.unlock();
    }
    CHECK_FALSE(shared);
    CHECK(turns == kThreads * kTurns);
    CHECK_FALSE(mutex.IsWanted());
    REQUIRE(mutex.try_lock());
    mutex.unlock();
}

TEST_CASE("a queue never holds more bytes than its capacity")
{
    BoundedQueue<int> queue(100);
    std::atomic<size_t> most{0};
    std::atomic<int> sum{0};
    {
        std::vector<NamedThread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back("consumer", [&] {
                while (auto item = queue.Pop()) sum += *item;
            });
        }
        for (int i = 1; i <= 1000; ++i) {
            REQUIRE(queue.Push(i, 30));
            most = std::max(most.load(), queue.BytesQueued());
        }
        queue.Close();
    }
    CHECK(most <= 90);
    CHECK(sum == 500500);
    CHECK_FALSE(queue.Push(1, 1));
}

TEST_CASE("an item larger than the queue passes when it is alone")
{
    BoundedQueue<int> queue(10);
    CHECK(queue.TryPush(1, 1000));
    CHECK_FALSE(queue.TryPush(2, 1));
    CHECK(queue.Pop() == 1);
    CHECK(queue.TryPush(2, 1));
    CHECK_FALSE(queue.TryPush(3, 1000));
}

TEST_CASE("room and items are reported without waiting")
{
    BoundedQueue<int> queue(10);
    CHECK_FALSE(queue.TryPop());
    CHECK(queue.HasRoom(1000)); // for one item alone
    REQUIRE(queue.TryPush(1, 8));
    CHECK(queue.HasRoom(2));
    CHECK_FALSE(queue.HasRoom(3));
    CHECK(queue.TryPop() == 1);
    queue.Close();
    CHECK_FALSE(queue.TryPop());
}

TEST_CASE("abort drops the queue and wakes a waiting producer")
{
    BoundedQueue<int> queue(10);
    REQUIRE(queue.Push(1, 10));
    std::atomic<bool> pushed{true};
    NamedThread producer("producer", [&] { pushed = queue.Push(2, 10); });
    queue.Abort();
    producer.Join();
    CHECK_FALSE(pushed);
    CHECK_FALSE(queue.Pop());
    CHECK(queue.Closed());
    CHECK(queue.BytesQueued() == 0);
}

TEST_CASE("a parallel loop visits every index once, with any number of threads")
{
    for (const size_t threads : {0u, 1u, 4u}) {
        ThreadPool pool("test", threads);
        for (const size_t count : {0u, 1u, 2u, 1000u}) {
            std::vector<std::atomic<int>> visits(count);
            pool.ParallelFor(count, [&](size_t i) { ++visits[i]; });
            CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
        }
    }
}

TEST_CASE("submitted tasks run before Wait returns and before destruction ends")
{
    std::atomic<int> count{0};
    {
        ThreadPool pool("test", 2);
        for (size_t i = 0; i < 2 * ThreadPool::kMaxQueued; ++i) pool.Submit([&] { ++count; });
        pool.Wait();
        CHECK(count == 2 * ThreadPool::kMaxQueued);
        for (int i = 0; i < 100; ++i) pool.Submit([&] { ++count; });
    }
    CHECK(count == 2 * ThreadPool::kMaxQueued + 100);
}

TEST_CASE("threads carry their name")
{
    std::string in_log;
    char elsewhere[16] = {};
    NamedThread("a-name-longer-than-15", [&] {
        in_log = ThreadName();
        pthread_getname_np(pthread_self(), elsewhere, sizeof elsewhere);
    }).Join();
    CHECK(in_log == "a-name-longer-than-15");
    CHECK(std::string(elsewhere) == "a-name-longer-t");

    std::thread nameless([&] { in_log = ThreadName(); });
    nameless.join();
    CHECK(in_log.empty());
    std::thread first([&] {
        SetThreadNameInLog("init");
        in_log = ThreadName();
        pthread_getname_np(pthread_self(), elsewhere, sizeof elsewhere);
    });
    first.join();
    CHECK(in_log == "init");
    CHECK(std::string(elsewhere) != "init");

    ThreadPool pool("pool", 1);
    pool.Submit([&] { in_log = ThreadName(); });
    pool.Wait();
    CHECK(in_log == "pool.00");
}

TEST_CASE("short slices keep the other attributes of the thread")
{
    int nice = 0;
    int policy = -1;
    NamedThread thread("nice", [&] {
        REQUIRE(setpriority(PRIO_PROCESS, 0, 7) == 0); // on Linux of the thread alone
        AskForShortSlices();
        nice = getpriority(PRIO_PROCESS, 0);
        policy = sched_getscheduler(0);
    });
    thread.Join();
    CHECK(nice == 7);
    CHECK(policy == SCHED_OTHER);
}

#ifdef __linux__
TEST_CASE("a thread gives way, and those that it starts, and no others")
{
    const auto nice = [] { return ::getpriority(PRIO_PROCESS, 0); };
    const int before = nice();
    int lowered = -1, inherited = -1, lowest = -1;
    NamedThread("lower", [&] {
        LowerThreadPriority();
        lowered = nice();
        NamedThread("child", [&] { inherited = nice(); }).Join();
        LowerThreadPriority(ThreadPriority::kLowest);
        lowest = nice();
    }).Join();
    CHECK(lowered >= 10);
    CHECK(lowest == 19);
    CHECK(inherited == lowered);
    CHECK(nice() == before);
}
#endif
