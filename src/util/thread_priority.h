// How much of the machine a thread asks for.
#pragma once

namespace ibd {

/** The calling thread and those that it will start give way to others, of other processes too, in
 *  the use of processors and disks; it cannot be undone. Without effect where the system has no
 *  such thing for a thread. */
void LowerThreadPriority();

} // namespace ibd
