// Events: consumers on threads, slow and stuck ones, publishers on several threads, shutdown.
#include "events/events.h"

#include "support/catch.h"
#include "support/testdata.h"

#include <atomic>
#include <future>
#include <random>
#include <thread>

namespace ibd::test {

namespace {

Event Tip(int32_t height) { return TipChanged{{{}, height}}; }

int32_t HeightOf(const Event& event) { return std::get<TipChanged>(event).tip.height; }

const EventKinds kTips = EventKinds::Of<TipChanged>();

/** Keeps what it is given. */
class Recorder : public EventConsumer {
public:
    void Take(const Event& event) override { heights.push_back(HeightOf(event)); }
    void Missed(const MissedEvents& missed_now) override { missed.push_back(missed_now); }

    std::vector<int32_t> heights;
    std::vector<MissedEvents> missed;
};

/** Is stuck in its first event until released. */
class Stuck final : public Recorder {
public:
    void Take(const Event& event) override
    {
        if (heights.empty()) {
            m_reached.set_value();
            m_go.get_future().wait();
        }
        Recorder::Take(event);
    }
    void WaitUntilReached() { m_reached.get_future().wait(); }
    void Go() { m_go.set_value(); }

private:
    std::promise<void> m_reached, m_go;
};

/** Gives way at random, so that queues fill and empty. */
class Lazy final : public Recorder {
public:
    explicit Lazy(uint64_t seed) : m_rng(seed) {}
    void Take(const Event& event) override
    {
        for (uint64_t i = m_rng() % 20; i > 0; --i) std::this_thread::yield();
        Recorder::Take(event);
    }

private:
    std::mt19937_64 m_rng;
};

std::vector<int32_t> UpTo(int32_t last)
{
    std::vector<int32_t> all;
    for (int32_t height = 1; height <= last; ++height) all.push_back(height);
    return all;
}

} // namespace

TEST_CASE("a stuck consumer delays neither the publisher nor consumers on other threads")
{
    Stuck resyncs;
    Stuck drops;
    Recorder quick;
    Events events;
    events.AddConsumer(resyncs, {kTips, WhenFull::kResync, 4}, "a");
    events.AddConsumer(drops, {kTips, WhenFull::kDrop, 4}, "b");
    events.AddConsumer(quick, {kTips, WhenFull::kBlock, 4}, "c");
    events.Start();
    events.Publish(Tip(1));
    resyncs.WaitUntilReached();
    drops.WaitUntilReached();
    for (int32_t height = 2; height <= 1000; ++height) events.Publish(Tip(height));
    CHECK(events.Dropped(resyncs) == 995); // one is being handled, four wait
    CHECK(events.Dropped(drops) == 995);
    CHECK(events.Dropped(quick) == 0);
    resyncs.Go();
    drops.Go();
    events.Drain();
    CHECK(quick.heights == UpTo(1000));
    CHECK(drops.heights == UpTo(5));
    CHECK(drops.missed.empty());
    CHECK(resyncs.heights == UpTo(5));
    REQUIRE(resyncs.missed.size() == 1);
    const MissedEvents& missed = resyncs.missed.front();
    CHECK((missed.first == 6 && missed.last == 1000 && missed.count == 995));
    CHECK(missed.tip == TipChanged{{{}, 1000}});
    events.Publish(Tip(1001)); // they continue
    events.Drain();
    CHECK(resyncs.heights.back() == 1001);
    CHECK(drops.heights.back() == 1001);
}

TEST_CASE("nothing is lost where the publisher waits, and all consumers see one order")
{
    constexpr int32_t kThreads = 3;
    constexpr int32_t kEach = 400;
    Lazy a(TestRng()());
    Lazy b(TestRng()());
    Lazy resyncs(TestRng()());
    Events events;
    events.AddConsumer(a, {kTips, WhenFull::kBlock, 1}, "a");
    events.AddConsumer(b, {kTips, WhenFull::kBlock, 7}, "b");
    events.AddConsumer(resyncs, {kTips, WhenFull::kResync, 2}, "b");
    events.Start();
    std::vector<std::thread> publishers;
    for (int32_t thread = 0; thread < kThreads; ++thread) {
        publishers.emplace_back([&events, thread] {
            for (int32_t i = 0; i < kEach; ++i) events.Publish(Tip(thread * kEach + i));
        });
    }
    for (std::thread& publisher : publishers) publisher.join();
    events.Drain();
    REQUIRE(a.heights.size() == size_t{kThreads} * kEach);
    CHECK(a.heights == b.heights);
    std::vector<int32_t> next(kThreads, 0);
    for (const int32_t height : a.heights) {
        CHECK(height % kEach == next[static_cast<size_t>(height / kEach)]++);
    }
    // The third one's events and gaps, put together, are what the others saw.
    size_t at = 0;
    size_t gap = 0;
    for (const int32_t height : resyncs.heights) {
        while (a.heights[at] != height) {
            REQUIRE(gap < resyncs.missed.size());
            REQUIRE(resyncs.missed[gap].first == at + 1);
            at = resyncs.missed[gap++].last;
        }
        ++at;
    }
    if (at < a.heights.size()) CHECK(resyncs.missed.at(gap++).last == a.heights.size());
    CHECK(gap == resyncs.missed.size());
    CHECK(events.Dropped(resyncs) == a.heights.size() - resyncs.heights.size());
}

TEST_CASE("consumers of one thread get each event in turn, however much the queues hold")
{
    std::vector<std::pair<char, int32_t>> seen;
    struct Named final : EventConsumer {
        Named(char n, std::vector<std::pair<char, int32_t>>& list) : name(n), all(list) {}
        void Take(const Event& event) override { all.emplace_back(name, HeightOf(event)); }
        const char name;
        std::vector<std::pair<char, int32_t>>& all;
    };
    Named x('x', seen);
    Named y('y', seen);
    Events events;
    events.AddConsumer(x, {.kinds = kTips});
    events.AddConsumer(y, {.kinds = kTips});
    for (int32_t height = 1; height <= 3; ++height) events.Publish(Tip(height));
    events.Publish(WarningRaised{NodeWarning::kInvalidChain, "not subscribed"});
    events.Start(); // events from before are kept
    events.Drain();
    const std::vector<std::pair<char, int32_t>> wanted = {{'x', 1}, {'y', 1}, {'x', 2},
                                                          {'y', 2}, {'x', 3}, {'y', 3}};
    CHECK(seen == wanted);
}

TEST_CASE("a stop releases waiting publishers, and delivers the queue")
{
    Stuck stuck;
    Recorder other;
    Events events;
    events.AddConsumer(stuck, {kTips, WhenFull::kBlock, 2}, "a");
    events.AddConsumer(other, {.kinds = kTips}, "b");
    events.Start();
    events.Publish(Tip(1));
    stuck.WaitUntilReached();
    events.Publish(Tip(2));
    events.Publish(Tip(3));
    std::thread waits([&] { events.Publish(Tip(4)); });
    std::thread stops([&] { events.Stop(); });
    waits.join();           // although the consumer is still stuck
    events.Publish(Tip(5)); // dropped: the events have ended
    stuck.Go();
    stops.join();
    CHECK(stuck.heights == UpTo(3));
    CHECK(other.heights.size() >= 3);
    events.Drain(); // returns although there are no threads any more
    events.Publish(Tip(6));
    events.Stop();
    CHECK(stuck.heights == UpTo(3));
}

TEST_CASE("an end with full queues of every policy, at any moment")
{
    for (int round = 0; round < 50; ++round) {
        Lazy blocks(TestRng()());
        Lazy drops(TestRng()());
        Lazy resyncs(TestRng()());
        Events events;
        const size_t capacity = 1 + TestRng()() % 4;
        const std::string shared = round % 2 == 0 ? "a" : "b";
        events.AddConsumer(blocks, {kTips, WhenFull::kBlock, capacity}, "a");
        events.AddConsumer(drops, {kTips, WhenFull::kDrop, capacity}, shared);
        events.AddConsumer(resyncs, {kTips, WhenFull::kResync, capacity}, "c");
        events.Start();
        std::atomic<bool> end = false;
        std::thread publisher([&] {
            for (int32_t height = 1; !end; ++height) events.Publish(Tip(height));
        });
        std::thread drainer([&] {
            while (!end) events.Drain();
        });
        for (uint64_t i = TestRng()() % 50; i > 0; --i) std::this_thread::yield();
        events.Stop();
        end = true;
        publisher.join();
        drainer.join();
        CHECK(blocks.heights == UpTo(static_cast<int32_t>(blocks.heights.size())));
        CHECK(std::is_sorted(drops.heights.begin(), drops.heights.end()));
        CHECK(std::is_sorted(resyncs.heights.begin(), resyncs.heights.end()));
    }
}

TEST_CASE("a consumer may publish, unless the publisher waits for it")
{
    struct Echo final : EventConsumer {
        explicit Echo(Events& to) : events(to) {}
        void Take(const Event& event) override
        {
            if (HeightOf(event) < 10) events.Publish(Tip(HeightOf(event) + 1));
            ++taken;
        }
        Events& events;
        std::atomic<int> taken = 0;
    };
    Events events;
    Echo echo(events);
    events.AddConsumer(echo, {kTips, WhenFull::kResync, 2});
    events.Start();
    events.Publish(Tip(1));
    while (echo.taken < 10) events.Drain();
    CHECK(echo.taken == 10);
}

namespace {

Event Downloading(int32_t height, bool downloading)
{
    return TipChanged{{{}, height}, downloading};
}

/** Notes the threads that it is called on. */
class Noting : public Recorder {
public:
    void Take(const Event& event) override
    {
        CHECK(++m_calls == 1);
        threads.push_back(ThreadName());
        Recorder::Take(event);
        --m_calls;
    }

    std::vector<std::string> threads;

private:
    std::atomic<int> m_calls = 0;
};

} // namespace

TEST_CASE("a consumer that yields has a thread of low priority during the initial download")
{
    Noting yields, other;
    Events events;
    events.AddConsumer(yields, {.kinds = kTips, .yields = true}, "a");
    events.AddConsumer(other, {.kinds = kTips}, "b");
    events.Start();
    for (const auto& [height, downloading] :
         {std::pair{1, false}, {2, true}, {3, true}, {4, false}}) {
        events.Publish(Downloading(height, downloading));
        events.Drain();
    }
    events.Stop();
    REQUIRE(yields.threads == std::vector<std::string>{"a", "a-low", "a-low", "a"});
    REQUIRE(other.threads == std::vector<std::string>(4, "b"));
}

TEST_CASE("a consumer that yields has its ordinary thread while its queue is half full")
{
    class Slow final : public Noting {
    public:
        void Take(const Event& event) override
        {
            Noting::Take(event);
            if (heights.size() > 1) return;
            m_reached.set_value();
            m_go.get_future().wait();
        }
        std::promise<void> m_reached, m_go;
    } slow;
    Events events;
    events.AddConsumer(slow, {.kinds = kTips, .capacity = 4, .yields = true}, "a");
    events.Start();
    events.Publish(Downloading(1, true));
    slow.m_reached.get_future().wait();
    for (const int32_t height : {2, 3, 4}) events.Publish(Downloading(height, true));
    slow.m_go.set_value();
    events.Drain();
    events.Stop();
    REQUIRE(slow.heights == UpTo(4));
    REQUIRE(slow.threads == std::vector<std::string>{"a-low", "a", "a-low", "a-low"});
}

TEST_CASE("events of a consumer that yields stay in order, and Stop() delivers all")
{
    for (int round = 0; round < 200; ++round) {
        Noting yields;
        Events events;
        events.AddConsumer(yields, {.kinds = kTips, .yields = true}, "a");
        events.Start();
        for (int32_t height = 1; height <= 50; ++height) {
            events.Publish(Downloading(height, TestRng().Below(2) == 0));
            if (TestRng().Below(4) == 0) std::this_thread::yield();
        }
        events.Stop();
        REQUIRE(yields.heights == UpTo(50));
    }
}

} // namespace ibd::test
