// Scheduler: jobs run after their interval, again and again, and not after Stop().
#include "events/scheduler.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

/** A count that other threads wait for. */
class Count {
public:
    void Add()
    {
        const Lock lock(m_mutex);
        ++m_count;
        m_changed.notify_all();
    }
    /** Waits for it. */
    void Reach(int count)
    {
        const Lock lock(m_mutex);
        while (m_count < count) m_changed.wait(m_mutex);
    }
    int Get()
    {
        const Lock lock(m_mutex);
        return m_count;
    }

private:
    Mutex m_mutex;
    std::condition_variable_any m_changed;
    int m_count IBD_GUARDED_BY(m_mutex) = 0;
};

} // namespace

TEST_CASE("jobs are due after their interval", "[events]")
{
    const std::unique_ptr<Env> env = MakePosixEnv();
    Scheduler scheduler(*env);
    Count hourly, daily;
    scheduler.Every(std::chrono::hours(1), [&] { hourly.Add(); });
    scheduler.Every(std::chrono::hours(24), [&] { daily.Add(); });
    scheduler.Start("test");
    for (int i = 1; i <= 3; ++i) {
        scheduler.Forward(std::chrono::hours(1));
        hourly.Reach(i);
    }
    CHECK(daily.Get() == 0);
    scheduler.Forward(std::chrono::hours(24));
    daily.Reach(1);
    scheduler.Stop();
    const int before = hourly.Get();
    scheduler.Forward(std::chrono::hours(100));
    scheduler.Stop(); // twice does no harm
    CHECK(hourly.Get() == before);
}

TEST_CASE("a job with a random interval keeps within its bounds", "[events]")
{
    const std::unique_ptr<Env> env = MakePosixEnv();
    Scheduler scheduler(*env);
    Count random, after;
    scheduler.Start("test");
    // Also once jobs run.
    scheduler.EveryBetween(std::chrono::hours(10), std::chrono::hours(15), [&] { random.Add(); });
    scheduler.Every(std::chrono::hours(9), [&] { after.Add(); });
    scheduler.Forward(std::chrono::hours(9));
    after.Reach(1);
    CHECK(random.Get() == 0);
    scheduler.Forward(std::chrono::hours(6));
    random.Reach(1);
    for (int i = 2; i <= 5; ++i) {
        scheduler.Forward(std::chrono::hours(15));
        random.Reach(i);
    }
    scheduler.Stop();
    CHECK(random.Get() == 5);
}

} // namespace ibd::test
