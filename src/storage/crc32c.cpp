// See crc32c.h.
#include "storage/crc32c.h"

#include <array>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
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

uint32_t ByTable(ByteSpan data, uint32_t crc)
{
    crc = ~crc;
    for (const uint8_t b : data) crc = kTable[(crc ^ b) & 0xff] ^ (crc >> 8);
    return ~crc;
}

#if defined(__x86_64__)
/** Bytes of each of the three streams that are processed in parallel: an instruction has a latency
 *  of three cycles, but one can start in each cycle. Two rounds are nearly a page of 8 KiB. */
constexpr size_t kStreamBytes = 1360;

/** The effect of kStreamBytes zeros on a state. It is linear, so each byte of the state is looked
 *  up separately. */
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

__attribute__((target("sse4.2"))) uint32_t ByInstruction(ByteSpan data, uint32_t crc)
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

/** x^power modulo the polynomial, as the upper half of a word whose bit i is the coefficient of
 *  x^(63 - i): the bit order of carry-less products of little-endian data. */
constexpr uint64_t PowerOfX(unsigned power)
{
    uint32_t c = 0x80000000; // x^0, where bit i is the coefficient of x^(31 - i)
    for (; power > 0; --power) c = c & 1 ? (c >> 1) ^ 0x82f63b78 : c >> 1;
    return uint64_t{c} << 32;
}

#define IBD_VECTOR_TARGET __attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.2")))

/** Multipliers that move a vector over the next `bits` bits of the message: each 16 bytes are two
 *  words, the first 64 bits higher. A product of two words has an extra factor x, hence the minus
 *  one. */
IBD_VECTOR_TARGET inline __m512i Mover(unsigned bits)
{
    const uint64_t first = PowerOfX(bits + 63), second = PowerOfX(bits - 1);
    const std::array<uint64_t, 8> words = {first, second, first, second,
                                           first, second, first, second};
    return _mm512_loadu_si512(words.data());
}

IBD_VECTOR_TARGET inline __m512i Load(const uint8_t* p) { return _mm512_loadu_si512(p); }

/** Moves `high` over the bits in between and adds `low`. */
IBD_VECTOR_TARGET inline __m512i Fold(__m512i high, __m512i mover, __m512i low)
{
    return _mm512_clmulepi64_epi128(high, mover, 0x00) ^
           _mm512_clmulepi64_epi128(high, mover, 0x11) ^ low;
}

/** A message is a polynomial, and its checksum the remainder of a division: a vector may be
 *  replaced by any value with the same remainder further on. So four vectors are moved along the
 *  message, then folded into one; the instruction does the rest. */
IBD_VECTOR_TARGET uint32_t ByVectors(ByteSpan data, uint32_t crc)
{
    constexpr size_t kVector = 64, kStep = 4 * kVector;
    if (data.size() < kStep) return ByInstruction(data, crc);
    static const __m512i over_four = Mover(8 * kStep);
    static const __m512i over_one = Mover(8 * kVector);
    const uint8_t* p = data.data();
    size_t n = data.size();
    // The initial value of the checksum is added to the first bits of the message.
    const std::array<uint64_t, 8> start = {~crc};
    __m512i a = Load(p) ^ Load(reinterpret_cast<const uint8_t*>(start.data()));
    __m512i b = Load(p + kVector), c = Load(p + 2 * kVector), d = Load(p + 3 * kVector);
    for (p += kStep, n -= kStep; n >= kStep; p += kStep, n -= kStep) {
        a = Fold(a, over_four, Load(p));
        b = Fold(b, over_four, Load(p + kVector));
        c = Fold(c, over_four, Load(p + 2 * kVector));
        d = Fold(d, over_four, Load(p + 3 * kVector));
    }
    d = Fold(Fold(Fold(a, over_one, b), over_one, c), over_one, d);
    for (; n >= kVector; p += kVector, n -= kVector) d = Fold(d, over_one, Load(p));
    std::array<uint8_t, kVector> rest;
    _mm512_storeu_si512(rest.data(), d);
    return ByInstruction(data.last(n), ByInstruction(rest, ~uint32_t{0}));
}
#endif

} // namespace

std::span<const Crc32cWay> Crc32cWays()
{
    static const std::vector<Crc32cWay> ways = [] {
        std::vector<Crc32cWay> all = {{"table", ByTable}};
#if defined(__x86_64__)
        if (__builtin_cpu_supports("sse4.2")) {
            all.push_back({"instruction", ByInstruction});
            if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq")) {
                all.push_back({"vectors", ByVectors});
            }
        }
#endif
        return all;
    }();
    return ways;
}

uint32_t Crc32c(ByteSpan data, uint32_t crc)
{
    static const auto fastest = Crc32cWays().back().compute;
    return fastest(data, crc);
}

} // namespace ibd
