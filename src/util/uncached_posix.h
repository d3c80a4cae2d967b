// The system calls behind UncachedReads (util/uncached_reads.h). Used by posix_env.cpp.
#pragma once

#include "util/posix_file.h"
#include "util/uncached_reads.h"

namespace ibd {

/** See UncachedReads::IsCached(). `fd`: of a regular file. */
bool IsCached(const Descriptor& fd, uint64_t offset, uint64_t length);

/** See UncachedReads::OpenUncached(). `fd`: the open file. */
Result<std::unique_ptr<UncachedFile>> OpenUncached(const Descriptor& fd, const Path& path);

} // namespace ibd
