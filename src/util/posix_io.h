// Loops over read and write calls that may be interrupted or incomplete. The call is a parameter,
// so that tests can interrupt and shorten it. Used by posix_env.cpp.
#pragma once

#include "util/bytes.h"

#include <algorithm>
#include <cerrno>

#include <sys/types.h>

namespace ibd {

/** The result of a loop: bytes moved, and errno if it ended with an error. */
struct IoOutcome {
    size_t done = 0;
    int error = 0;
};

/** Most bytes for one call; Linux itself stops just below 2 GiB. */
inline constexpr size_t kMaxIoChunk = size_t{1} << 30;

/** Calls `read_at(data, size, offset)` until `out` is full, the end of file or an error. */
template <typename ReadAt>
IoOutcome ReadFully(ReadAt&& read_at, MutableByteSpan out, uint64_t offset)
{
    IoOutcome r;
    while (r.done < out.size()) {
        const size_t want = std::min(out.size() - r.done, kMaxIoChunk);
        const ssize_t n = read_at(out.data() + r.done, want, static_cast<off_t>(offset + r.done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) r.error = errno;
        if (n <= 0) break;
        r.done += static_cast<size_t>(n);
    }
    return r;
}

/** Calls `write_at(data, size, offset)` until all of `data` is written or an error. A call that
 *  writes no bytes without an error counts as a full disk. */
template <typename WriteAt>
IoOutcome WriteFully(WriteAt&& write_at, ByteSpan data, uint64_t offset)
{
    IoOutcome r;
    while (r.done < data.size()) {
        const size_t want = std::min(data.size() - r.done, kMaxIoChunk);
        const ssize_t n = write_at(data.data() + r.done, want, static_cast<off_t>(offset + r.done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            r.error = n < 0 ? errno : ENOSPC;
            break;
        }
        r.done += static_cast<size_t>(n);
    }
    return r;
}

} // namespace ibd
