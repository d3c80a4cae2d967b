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
/** Bytes of each of the three streams that the processor works on at a time: an instruction takes
 *  three cycles, but one can begin in each. Two rounds are nearly a page of 8 KiB. */
constexpr size_t kStreamBytes = 1360;

/** What kStreamBytes zeros make of a state. That is linear, so each byte of the state is looked up
 *  apart. */
class ZeroStream {
public:
    ZeroStream()
    {
        for (unsigned bit = 0; bit < 32; ++bit) {
            uint32_t c = uint32_t{1} << bit;
            for (size_t i = 0; i < kStreamBytes; ++i) c = kTable[c & 0xff] ^ (c >> 8);
            for (uint32_t value = 0; value < 256; ++value) {
                if (value >> bit % 8 & 1) m_after[bit / 8][value] ^= c;
            }
        }
    }
    uint32_t After(uint32_t c) const
    {
        return m_after[0][c & 0xff] ^ m_after[1][c >> 8 & 0xff] ^ m_after[2][c >> 16 & 0xff] ^
               m_after[3][c >> 24];
    }

private:
    std::array<std::array<uint32_t, 256>, 4> m_after{};
};

uint64_t Word(const uint8_t* p)
{
    uint64_t word;
    std::memcpy(&word, p, sizeof(word));
    return word;
}

__attribute__((target("sse4.2"))) uint32_t Crc32cSse42(ByteSpan data, uint32_t crc)
{
    static const ZeroStream zeros;
    uint64_t c = ~crc;
    const uint8_t* p = data.data();
    size_t n = data.size();
    for (; n >= 3 * kStreamBytes; p += 3 * kStreamBytes, n -= 3 * kStreamBytes) {
        uint64_t second = 0, third = 0;
        for (size_t i = 0; i < kStreamBytes; i += 8) {
            c = _mm_crc32_u64(c, Word(p + i));
            second = _mm_crc32_u64(second, Word(p + kStreamBytes + i));
            third = _mm_crc32_u64(third, Word(p + 2 * kStreamBytes + i));
        }
        c = zeros.After(static_cast<uint32_t>(c)) ^ second;
        c = zeros.After(static_cast<uint32_t>(c)) ^ third;
    }
    for (; n >= 8; p += 8, n -= 8) c = _mm_crc32_u64(c, Word(p));
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
