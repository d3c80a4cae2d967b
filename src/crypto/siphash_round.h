// Shared by the editions of SipHash-2-4: the state and the absorption of a word. For files of
// this name only.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ibd::sip {

using State = std::array<uint64_t, 4>;

/** `k0`, `k1`: the key as two little-endian words. */
inline State InitialState(uint64_t k0, uint64_t k1)
{
    return {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
            k1 ^ 0x7465646279746573};
}

inline void Round(State& v)
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = std::rotl(v[1], 13) ^ v[0];
    v[3] = std::rotl(v[3], 16) ^ v[2];
    v[0] = std::rotl(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = std::rotl(v[1], 17) ^ v[2];
    v[3] = std::rotl(v[3], 21) ^ v[0];
    v[2] = std::rotl(v[2], 32);
}

inline void Absorb(State& v, uint64_t word)
{
    v[3] ^= word;
    Round(v);
    Round(v);
    v[0] ^= word;
}

} // namespace ibd::sip
