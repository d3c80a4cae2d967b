// UncachedReads: what a file of the machine can do besides a ReadableFile's reads: read around the
// system's cache, which saves the work of filling it, and tell what the cache holds already. Found
// by a cast from a ReadableFile; a file without it is read through the cache. Any thread.
#pragma once

#include "util/env.h"

namespace ibd {

/** Multiple that offset, size and address of an uncached read must have. */
inline constexpr size_t kUncachedAlign = 4096;

/** The file opened once more, for reads around the cache. */
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
    /** Whether most of [offset, offset+length) is in the system's cache, by samples. Also true if
     *  the system cannot tell. Reads and changes nothing. */
    virtual bool IsCached(uint64_t offset, uint64_t length) const = 0;
    /** An error if the file system does not allow it, or the path leads to another file now. */
    virtual Result<std::unique_ptr<UncachedFile>> OpenUncached() const = 0;
};

} // namespace ibd
