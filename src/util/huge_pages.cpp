// See huge_pages.h.
#include "util/huge_pages.h"

#include <new>

#include <sys/mman.h>

namespace ibd {

namespace {

/** The most that any element of a table needs, for memory below a huge page. */
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
    // A refusal leaves ordinary pages.
    if (bytes >= kHugePageBytes) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

void FreeOnHugePages(void* memory, size_t bytes) { ::operator delete(memory, AlignFor(bytes)); }

} // namespace ibd
