// Waits for a tip end when the condition holds, at the timeout, and when the node stops.
#include "rpc/tip_waiters.h"

#include "support/catch.h"

#include <future>

namespace ibd::test {

namespace {

using std::chrono::milliseconds;

TipWaiters::Condition IsAt(int32_t height)
{
    return [height](const TipInfo& tip) { return tip.height == height; };
}

} // namespace

TEST_CASE("a wait ends with the tip that it is about, and with the node")
{
    TipWaiters waiters;
    std::atomic<int32_t> height{1};
    const auto current = [&] { return TipInfo{{}, height}; };
    CHECK(waiters.Wait(current, IsAt(1), milliseconds(0)).height == 1);
    auto waiting = std::async(
        std::launch::async, [&] { return waiters.Wait(current, IsAt(3), milliseconds(0)).height; });
    for (const int32_t next : {2, 3}) {
        height = next;
        waiters.Notify();
    }
    CHECK(waiting.get() == 3);
    auto stopped = std::async(
        std::launch::async, [&] { return waiters.Wait(current, IsAt(9), milliseconds(0)).height; });
    waiters.Stop();
    CHECK(stopped.get() == 3);
    CHECK(waiters.Wait(current, IsAt(9), milliseconds(0)).height == 3); // for good
}

TEST_CASE("a wait that takes too long ends with the tip as it is")
{
    TipWaiters waiters;
    int asked = 0;
    const auto current = [&] { return TipInfo{{}, ++asked}; };
    CHECK(waiters.Wait(current, IsAt(-1), milliseconds(1)).height == asked);
    CHECK(asked >= 2); // once more at the end
}

} // namespace ibd::test
