// Short time slices for threads that answer requests. Any thread.
#pragma once

namespace ibd {

/** Asks Linux (6.12 or later) for time slices of 0.1 ms for the calling thread. When it wakes up
 *  while all cores are busy, it is scheduled sooner, for a shorter slice; its share of CPU time
 *  stays the same. No effect where the kernel does not support it. */
void AskForShortSlices();

} // namespace ibd
