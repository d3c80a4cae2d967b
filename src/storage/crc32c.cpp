// See crc32c.h.
#include "storage/crc32c.h"

#include <array>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace ibd {
namespace {

constexpr std::array<uint32_t, 256> MakeTable()
{
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit) c = c & 1 ? (c >> 1) ^ 0x82f63b78 : c >> 1;
        table[i] = c;
    }
    return table;
}
constexpr std::array<uint32_t, 256> kTable = MakeTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t Crc32cSse42(ByteSpan data, uint32_t crc)
{
    uint64_t c = ~crc;
    const uint8_t* p = data.data();
    size_t n = data.size();
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word;
        std::memcpy(&word, p, 8);
        c = _mm_crc32_u64(c, word);
    }
    for (; n > 0; ++p, --n) c = _mm_crc32_u8(static_cast<uint32_t>(c), *p);
    return ~static_cast<uint32_t>(c);
}
#endif

} // namespace

uint32_t Crc32cPortable(ByteSpan data, uint32_t crc)
{
    crc = ~crc;
    for (uint8_t b : data) crc = kTable[(crc ^ b) & 0xff] ^ (crc >> 8);
    return ~crc;
}

uint32_t Crc32c(ByteSpan data, uint32_t crc)
{
#if defined(__x86_64__)
    static const bool fast = __builtin_cpu_supports("sse4.2");
    if (fast) return Crc32cSse42(data, crc);
#endif
    return Crc32cPortable(data, crc);
}

} // namespace ibd
