// See ripemd160.h.
#include "crypto/ripemd160.h"

#include "crypto/padding.h"
#include "crypto/sha256.h"
#include "util/endian.h"

#include <bit>

namespace ibd {

namespace {

using State = std::array<uint32_t, 5>;

/** The differences between the two parallel lines: order of message words, rotations, constants,
 *  and the order of the boolean functions. One row for each sixteen rounds. */
struct Line {
    uint8_t word[80];
    uint8_t rotate[80];
    uint32_t constant[5];
    bool backwards;
};

constexpr Line kLeft = {{0, 1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, //
                         7, 4,  13, 1,  10, 6,  15, 3,  12, 0, 9,  5,  2,  14, 11, 8,  //
                         3, 10, 14, 4,  9,  15, 8,  1,  2,  7, 0,  6,  13, 11, 5,  12, //
                         1, 9,  11, 10, 0,  8,  12, 4,  13, 3, 7,  15, 14, 5,  6,  2,  //
                         4, 0,  5,  9,  7,  12, 2,  10, 14, 1, 3,  8,  11, 6,  15, 13},
                        {11, 14, 15, 12, 5,  8,  7,  9,  11, 13, 14, 15, 6,  7,  9,  8,  //
                         7,  6,  8,  13, 11, 9,  7,  15, 7,  12, 15, 9,  11, 7,  13, 12, //
                         11, 13, 6,  7,  14, 9,  13, 15, 14, 8,  13, 6,  5,  12, 7,  5,  //
                         11, 12, 14, 15, 14, 15, 9,  8,  9,  14, 5,  6,  8,  6,  5,  12, //
                         9,  15, 5,  11, 6,  8,  13, 12, 5,  12, 13, 14, 11, 8,  5,  6},
                        {0x00000000, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e},
                        false};

constexpr Line kRight = {{5,  14, 7,  0, 9, 2,  11, 4,  13, 6,  15, 8,  1,  10, 3,  12, //
                          6,  11, 3,  7, 0, 13, 5,  10, 14, 15, 8,  12, 4,  9,  1,  2,  //
                          15, 5,  1,  3, 7, 14, 6,  9,  11, 8,  12, 2,  10, 0,  4,  13, //
                          8,  6,  4,  1, 3, 11, 15, 0,  5,  12, 2,  13, 9,  7,  10, 14, //
                          12, 15, 10, 4, 1, 5,  8,  7,  6,  2,  13, 14, 0,  3,  9,  11},
                         {8,  9,  9,  11, 13, 15, 15, 5,  7,  7,  8,  11, 14, 14, 12, 6,  //
                          9,  13, 15, 7,  12, 8,  9,  11, 7,  7,  12, 7,  6,  15, 13, 11, //
                          9,  7,  15, 11, 8,  6,  6,  14, 12, 13, 5,  14, 13, 13, 7,  5,  //
                          15, 5,  8,  11, 14, 14, 6,  14, 6,  9,  12, 9,  12, 5,  15, 8,  //
                          8,  5,  12, 9,  12, 5,  14, 6,  8,  13, 6,  5,  15, 13, 11, 11},
                         {0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0x00000000},
                         true};

constexpr uint32_t Function(size_t group, uint32_t x, uint32_t y, uint32_t z)
{
    switch (group) {
    case 0: return x ^ y ^ z;
    case 1: return (x & y) | (~x & z);
    case 2: return (x | ~y) ^ z;
    case 3: return (x & z) | (y & ~z);
    default: return x ^ (y | ~z);
    }
}

/** Sixteen rounds of a line, with one boolean function and constant. */
template <const Line& kLine, size_t kGroup>
inline void RunGroup(State& s, const uint32_t (&w)[16])
{
    constexpr size_t kFunction = kLine.backwards ? 4 - kGroup : kGroup;
    auto [a, b, c, d, e] = s;
    for (size_t i = 16 * kGroup; i < 16 * kGroup + 16; ++i) {
        const uint32_t sum =
            a + Function(kFunction, b, c, d) + w[kLine.word[i]] + kLine.constant[kGroup];
        const uint32_t next = std::rotl(sum, kLine.rotate[i]) + e;
        a = e;
        e = d;
        d = std::rotl(c, 10);
        c = b;
        b = next;
    }
    s = {a, b, c, d, e};
}

template <const Line& kLine>
State RunLine(State s, const uint32_t (&w)[16])
{
    RunGroup<kLine, 0>(s, w);
    RunGroup<kLine, 1>(s, w);
    RunGroup<kLine, 2>(s, w);
    RunGroup<kLine, 3>(s, w);
    RunGroup<kLine, 4>(s, w);
    return s;
}

void Transform(State& state, const uint8_t* block)
{
    uint32_t w[16];
    for (size_t i = 0; i < 16; ++i) w[i] = ReadLE32(block + 4 * i);
    const State left = RunLine<kLeft>(state, w);
    const State right = RunLine<kRight>(state, w);
    const State before = state;
    for (size_t i = 0; i < 5; ++i) {
        state[i] = before[(i + 1) % 5] + left[(i + 2) % 5] + right[(i + 3) % 5];
    }
}

} // namespace

Hash20 Ripemd160Of(ByteSpan data)
{
    State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    ForEachPaddedBlock(data, LengthOrder::kLittleEndian,
                       [&](const uint8_t* block) { Transform(state, block); });
    Hash20 out;
    for (size_t i = 0; i < 5; ++i) WriteLE32(out.data() + 4 * i, state[i]);
    return out;
}

Hash20 Hash160(ByteSpan data) { return Ripemd160Of(Sha256Of(data)); }

} // namespace ibd
