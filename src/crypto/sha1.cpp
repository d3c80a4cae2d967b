// See sha1.h.
#include "crypto/sha1.h"

#include "crypto/padding.h"
#include "util/endian.h"

#include <bit>

namespace ibd {

namespace {

using State = std::array<uint32_t, 5>;

struct Working {
    uint32_t a, b, c, d, e;
};

/** Twenty rounds with one boolean function and constant. */
template <typename F>
inline void TwentyRounds(Working& v, const uint32_t* w, uint32_t constant, F function)
{
    for (size_t i = 0; i < 20; ++i) {
        const uint32_t next = std::rotl(v.a, 5) + function(v.b, v.c, v.d) + constant + v.e + w[i];
        v = {next, v.a, std::rotl(v.b, 30), v.c, v.d};
    }
}

uint32_t Choose(uint32_t b, uint32_t c, uint32_t d) { return d ^ (b & (c ^ d)); }

uint32_t Parity(uint32_t b, uint32_t c, uint32_t d) { return b ^ c ^ d; }

uint32_t Majority(uint32_t b, uint32_t c, uint32_t d) { return (b & c) | (d & (b | c)); }

void Transform(State& state, const uint8_t* block)
{
    uint32_t w[80];
    for (size_t i = 0; i < 16; ++i) w[i] = ReadBE32(block + 4 * i);
    for (size_t i = 16; i < 80; ++i) {
        w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    Working v = {state[0], state[1], state[2], state[3], state[4]};
    TwentyRounds(v, w, 0x5a827999, Choose);
    TwentyRounds(v, w + 20, 0x6ed9eba1, Parity);
    TwentyRounds(v, w + 40, 0x8f1bbcdc, Majority);
    TwentyRounds(v, w + 60, 0xca62c1d6, Parity);
    const State add = {v.a, v.b, v.c, v.d, v.e};
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
