// MapForReading: reads a file through a memory map, from the pages of the system's cache. If the
// file was truncated, or its disk fails, the system raises SIGBUS; such a read is repeated by a
// call, which reports the error. Any thread. The SIGBUS handler is process-wide: it is set when the
// first file is mapped, and leaves a SIGBUS from other code to the system.
#pragma once

#include "util/env.h"

namespace ibd {

/** `file`, read through a map of its open descriptor `fd`. Size() and the readable range are those
 *  when it was mapped. Returns `file` itself if it is empty or cannot be mapped. */
std::unique_ptr<ReadableFile> MapForReading(std::unique_ptr<ReadableFile> file, int fd,
                                            uint64_t size);

} // namespace ibd
