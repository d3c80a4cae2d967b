// UncachedReads: an optional interface of a ReadableFile: direct I/O (O_DIRECT), which saves the
// work of filling the system's page cache, and a query whether a range is in that cache. Obtained
// by a dynamic_cast from a ReadableFile; a file without it is read through the cache. Any thread.
#pragma once

#include "util/env.h"

namespace ibd {

/** Offset, size and address of an uncached read must be multiples of this. */
inline constexpr size_t kUncachedAlign = 4096;

/** The file opened a second time, for direct I/O. */
class UncachedFile {
public:
    virtual ~UncachedFile() = default;
    /** One call to the disk: fills `out` from `offset`; returns the bytes read, which may be fewer
     *  anywhere. All three are multiples of kUncachedAlign. */
    virtual Result<size_t> ReadOnce(uint64_t offset, MutableByteSpan out) const = 0;
};

class UncachedReads {
public:
    virtual ~UncachedReads() = default;
    /** Whether most of [offset, offset+length) is in the system's cache, judged by samples. Also
     *  true if the system cannot tell. Reads no data and does not change the cache. */
    virtual bool IsCached(uint64_t offset, uint64_t length) const = 0;
    /** An error if the file system does not allow it, or the path leads to another file now. */
    virtual Result<std::unique_ptr<UncachedFile>> OpenUncached() const = 0;
};

} // namespace ibd
