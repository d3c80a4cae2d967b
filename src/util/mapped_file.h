// MapForReading: a file read through a memory map, from the cache's own pages. Where the file was
// cut short under the map, or its disk fails, the system raises SIGBUS; such a read is made again
// by a call, which says what is wrong. Any thread. The handler of SIGBUS is the process's: it is
// set when the first file is mapped, and leaves a SIGBUS from anywhere else to the system.
#pragma once

#include "util/env.h"

namespace ibd {

/** `file` read through a map of its open descriptor `fd`, which `file` owns. Size() and what can be
 *  read are as they were when it was mapped. `file` itself if it is empty or has no map. */
std::unique_ptr<ReadableFile> MapForReading(std::unique_ptr<ReadableFile> file, int fd,
                                            uint64_t size);

} // namespace ibd
