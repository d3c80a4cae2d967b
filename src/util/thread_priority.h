// A thread's priority.
#pragma once

namespace ibd {

enum class ThreadPriority {
    kLow,    //!< a tenth of the processor time of an ordinary thread, if both have work
    kLowest, //!< a seventieth
};

/** Lowers the priority of the calling thread, and of threads that it starts later, for processors
 *  and disks, also against other processes; irreversible. No effect where the system has no
 *  priority for a thread. */
void LowerThreadPriority(ThreadPriority priority = ThreadPriority::kLow);

} // namespace ibd
