// HugePageAllocator: memory of large tables that are read at random. Where the system offers huge
// pages on request, an access misses the translation cache far less often; elsewhere the memory is
// the same as that of new.
#pragma once

#include <cstddef>

namespace ibd {

constexpr size_t kHugePageBytes = 2 << 20; //!< of x86-64 and most arm64 systems

/** `bytes` of uninitialised memory, on huge pages if it is at least one of them and the system
 *  has them to give. Throws std::bad_alloc. Touched memory is resident in whole huge pages. */
void* AllocateOnHugePages(size_t bytes);
void FreeOnHugePages(void* memory, size_t bytes);

/** For standard containers. */
template <typename T>
struct HugePageAllocator {
    using value_type = T;

    HugePageAllocator() = default;
    template <typename Other>
    HugePageAllocator(const HugePageAllocator<Other>&)
    {
    }

    T* allocate(size_t count) { return static_cast<T*>(AllocateOnHugePages(count * sizeof(T))); }
    void deallocate(T* memory, size_t count) { FreeOnHugePages(memory, count * sizeof(T)); }

    bool operator==(const HugePageAllocator&) const = default;
};

} // namespace ibd
