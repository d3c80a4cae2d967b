// See thread_priority.h.
#include "util/thread_priority.h"

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ibd {

void LowerThreadPriority([[maybe_unused]] ThreadPriority priority)
{
#ifdef __linux__ // where nice values are for threads
    const int nice = priority == ThreadPriority::kLow ? 10 : 19;
    constexpr int kOfThread = 1, kBestEffort = 2, kClassShift = 13, kLowest = 7; // ioprio_set(2)
    (void)::setpriority(PRIO_PROCESS, 0, nice);
    (void)::syscall(SYS_ioprio_set, kOfThread, 0, (kBestEffort << kClassShift) | kLowest);
#endif
}

} // namespace ibd
