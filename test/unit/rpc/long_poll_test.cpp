// The events that end a long poll.
#include "rpc/long_poll.h"

#include "support/catch.h"

#include <vector>

using namespace ibd;

namespace {

/** The waits in seconds of a poll during which the tip changes in the n-th wait, the pool before
 *  the m-th look (from 0). */
std::vector<int64_t> Waits(size_t tip_in_wait, size_t pool_before_look)
{
    std::vector<int64_t> waits;
    size_t looks = 0;
    WaitForTemplateNews(
        [&](std::chrono::milliseconds wait) {
            waits.push_back(wait.count() / 1000);
            return waits.size() > tip_in_wait;
        },
        [&] { return looks++ >= pool_before_look; });
    return waits;
}

} // namespace

TEST_CASE("a long poll looks at the pool after a minute, then every ten seconds, until it changed")
{
    constexpr size_t kNever = 99;
    using Seconds = std::vector<int64_t>;
    CHECK(Waits(0, kNever) == Seconds{60});
    CHECK(Waits(kNever, 0) == Seconds{60});
    CHECK(Waits(kNever, 1) == Seconds{60, 10});
    CHECK(Waits(kNever, 4) == Seconds{60, 10, 10, 10, 10});
    CHECK(Waits(2, 4) == Seconds{60, 10, 10});
}
