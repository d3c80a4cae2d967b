// Software prefetch of memory that will be read soon. In loops over many scattered objects the
// cache misses then overlap.
#pragma once

#include <cstddef>

namespace ibd {

/** For a longer range only the first KiB is prefetched: the hardware prefetcher follows sequential
 *  reads. */
inline void PrefetchBytes(const void* begin, size_t count)
{
    constexpr size_t kLine = 64, kMost = 1024;
    const auto* const bytes = static_cast<const char*>(begin);
    for (size_t at = 0; at < count && at < kMost; at += kLine) __builtin_prefetch(bytes + at);
}

/** Prefetches the object, but not the memory that it points to. Null is allowed. */
template <typename T>
void Prefetch(const T* object)
{
    if (object) PrefetchBytes(object, sizeof(T)); // no sums with null
}

/** Calls each of `steps` once for 0, 1, ... count - 1. Each step runs some indexes behind the step
 *  before it, so that the memory which that step prefetched has arrived. */
template <typename... Steps>
void Staggered(size_t count, const Steps&... steps)
{
    constexpr size_t kApart = 8;
    for (size_t turn = 0; turn < count + (sizeof...(steps) - 1) * kApart; ++turn) {
        size_t i = turn; // wraps around before the first call of a later step
        ((i < count ? steps(i) : void(), i -= kApart), ...);
    }
}

} // namespace ibd
