// Has the processor fetch memory that will be read soon, without waiting for it. For loops over
// many objects that lie anywhere: their reads then wait together.
#pragma once

#include <cstddef>

namespace ibd {

/** Of longer ranges the begin: the processor itself notices that it is read in order. */
inline void PrefetchBytes(const void* begin, size_t count)
{
    constexpr size_t kLine = 64, kMost = 1024;
    const auto* const bytes = static_cast<const char*>(begin);
    for (size_t at = 0; at < count && at < kMost; at += kLine) __builtin_prefetch(bytes + at);
}

/** The object itself, without what it points to. Null is allowed. */
template <typename T>
void Prefetch(const T* object)
{
    PrefetchBytes(object, sizeof(T));
}

/** Calls each of `steps` once for 0, 1, ... count - 1. A step is some calls behind the one before,
 *  so that it finds what that one has had fetched. */
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
