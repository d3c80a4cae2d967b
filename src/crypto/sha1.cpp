// See sha1.h.
#include "crypto/sha1.h"

#include "crypto/padding.h"
#include "util/endian.h"

#include <bit>

namespace ibd {

namespace {

using State = std::array<uint32_t, 5>;

/** Boolean function and constant of each group of twenty rounds. */
uint32_t RoundFunction(size_t round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round < 20) return (d ^ (b & (c ^ d))) + 0x5a827999;
    if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
    if (round < 60) return ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

void Transform(State& state, const uint8_t* block)
{
    uint32_t w[80];
    for (size_t i = 0; i < 16; ++i) w[i] = ReadBE32(block + 4 * i);
    for (size_t i = 16; i < 80; ++i) {
        w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    auto [a, b, c, d, e] = state;
    for (size_t i = 0; i < 80; ++i) {
        const uint32_t next = std::rotl(a, 5) + RoundFunction(i, b, c, d) + e + w[i];
        e = d;
        d = c;
        c = std::rotl(b, 30);
        b = a;
        a = next;
    }
    const State add = {a, b, c, d, e};
    for (size_t i = 0; i < 5; ++i) state[i] += add[i];
}

} // namespace

Hash20 Sha1Of(ByteSpan data)
{
    State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    ForEachPaddedBlock(data, LengthOrder::kBigEndian,
                       [&](const uint8_t* block) { Transform(state, block); });
    Hash20 out;
    for (size_t i = 0; i < 5; ++i) WriteBE32(out.data() + 4 * i, state[i]);
    return out;
}

} // namespace ibd
