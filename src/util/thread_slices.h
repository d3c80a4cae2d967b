// Short time slices for threads that answer somebody who waits. Any thread.
#pragma once

namespace ibd {

/** Asks Linux (6.12 or later) for time slices of a tenth of a millisecond for the calling thread:
 *  when it wakes while others have all cores, it is let in sooner, and for less long; its share of
 *  time stays. Where the kernel knows no such thing, or refuses, nothing changes. */
void AskForShortSlices();

} // namespace ibd
