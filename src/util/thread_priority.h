// A thread's priority.
#pragma once

namespace ibd {

/** Lowers the priority of the calling thread, and of threads that it starts later, for processors
 *  and disks, also against other processes; irreversible. No effect where the system has no
 *  priority for a thread. */
void LowerThreadPriority();

} // namespace ibd
