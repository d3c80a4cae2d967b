// See thread_slices.h. The C library has no function for it: man 2 sched_setattr.
#include "util/thread_slices.h"

#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace ibd {

namespace {

constexpr uint64_t kSliceNanoseconds = 100'000; // the shortest that the kernel grants

/** The kernel's struct sched_attr, first version. */
struct SchedulingAttributes {
    uint32_t size = sizeof(SchedulingAttributes);
    uint32_t policy = 0;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 0; //!< for an ordinary thread its slice, in nanoseconds
    uint64_t deadline = 0;
    uint64_t period = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

} // namespace

void AskForShortSlices()
{
#ifdef SYS_sched_setattr
    SchedulingAttributes now;
    // All other attributes stay as they are.
    if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0) return;
    now.runtime = kSliceNanoseconds;
    (void)::syscall(SYS_sched_setattr, 0, &now, 0);
#endif
}

} // namespace ibd
