// Memory on huge pages: like any other memory, and aligned so that the system can give them.
#include "util/huge_pages.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "support/catch.h"

using namespace ibd;

TEST_CASE("memory on huge pages: any size can be written to its end", "[huge_pages]")
{
    for (const size_t bytes : {size_t{1}, size_t{4096}, kHugePageBytes - 1, kHugePageBytes,
                               kHugePageBytes + 1, 5 * kHugePageBytes + 4097}) {
        CAPTURE(bytes);
        void* const memory = AllocateOnHugePages(bytes);
        const auto place = reinterpret_cast<uintptr_t>(memory);
        CHECK(place % 64 == 0);
        if (bytes >= kHugePageBytes) CHECK(place % kHugePageBytes == 0);
        std::memset(memory, 0xa5, bytes);
        CHECK(static_cast<const uint8_t*>(memory)[bytes - 1] == 0xa5);
        FreeOnHugePages(memory, bytes);
    }
}

TEST_CASE("memory on huge pages: a container keeps its content while it grows", "[huge_pages]")
{
    std::vector<uint64_t, HugePageAllocator<uint64_t>> numbers;
    constexpr uint64_t kCount = kHugePageBytes / 2;
    for (uint64_t i = 0; i < kCount; ++i) numbers.push_back(i * i);
    bool same = true;
    for (uint64_t i = 0; i < kCount; ++i) same = same && numbers[i] == i * i;
    CHECK(same);
}
