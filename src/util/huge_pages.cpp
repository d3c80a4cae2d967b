// See huge_pages.h.
#include "util/huge_pages.h"

#include <new>

#include <sys/mman.h>

namespace ibd {

namespace {

/** The largest alignment of any table element, for memory smaller than a huge page. */
constexpr size_t kSmallAlign = 64;

std::align_val_t AlignFor(size_t bytes)
{
    return std::align_val_t(bytes < kHugePageBytes ? kSmallAlign : kHugePageBytes);
}

} // namespace

void* AllocateOnHugePages(size_t bytes)
{
    void* const memory = ::operator new(bytes, AlignFor(bytes));
#ifdef MADV_HUGEPAGE
    // If the kernel refuses, ordinary pages are used.
    if (bytes >= kHugePageBytes) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

void FreeOnHugePages(void* memory, size_t bytes) { ::operator delete(memory, AlignFor(bytes)); }

} // namespace ibd
