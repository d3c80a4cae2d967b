// The CPU time of a thread.
#pragma once

#include "util/check.h"

#include <chrono>
#include <ctime>

namespace ibd {

/** CPU time that the calling thread has used. */
inline std::chrono::nanoseconds ThreadCpuTime()
{
    timespec now{};
    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

} // namespace ibd
