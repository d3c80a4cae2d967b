// Shared by the SHA-256 backends: round constants, byte order of digests, entry points of each
// backend. For no other module.
#pragma once

#include "crypto/sha256_backend.h"
#include "util/endian.h"

#include <span>

namespace ibd::sha256 {

/** Round constants: fractional parts of the cube roots of the first 64 primes. */
alignas(64) inline constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/** Message lengths in paddings: bits of salt block plus outpoint; of a 64-byte message; of a
 *  digest. */
inline constexpr uint32_t kOutpointBits = (64 + 36) * 8;
inline constexpr uint32_t kNodeBits = 64 * 8;
inline constexpr uint32_t kDigestBits = 32 * 8;

constexpr uint32_t RotateRight(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

/** kRound[i] + w[i] for the constant padding block of a 64-byte message. */
constexpr std::array<uint32_t, 64> NodePaddingRounds()
{
    std::array<uint32_t, 64> w{};
    w[0] = 0x80000000;
    w[15] = kNodeBits;
    for (size_t i = 16; i < 64; ++i) {
        const uint32_t x = w[i - 15];
        const uint32_t y = w[i - 2];
        w[i] = w[i - 16] + (RotateRight(x, 7) ^ RotateRight(x, 18) ^ (x >> 3)) + w[i - 7] +
               (RotateRight(y, 17) ^ RotateRight(y, 19) ^ (y >> 10));
    }
    for (size_t i = 0; i < 64; ++i) w[i] += kRound[i];
    return w;
}
alignas(64) inline constexpr std::array<uint32_t, 64> kNodePaddingRounds = NodePaddingRounds();

inline void StateToBytes(const Sha256State& state, uint8_t* out)
{
    for (size_t i = 0; i < 8; ++i) WriteBE32(out + 4 * i, state[i]);
}

/** Fills 64 bytes: the outpoint, then the padding of a 100-byte message. */
inline void PadOutpoint(const uint8_t* message, uint8_t* block)
{
    std::memcpy(block, message, 36);
    block[36] = 0x80;
    std::memset(block + 37, 0, 23);
    WriteBE32(block + 60, kOutpointBits);
}

void TransformPortable(Sha256State& state, const uint8_t* data, size_t blocks);

// One function for each backend; `available` is set from the CPU's feature bits.
Sha256Backend PortableBackend();
Sha256Backend Vector4Backend();
#if defined(__x86_64__)
Sha256Backend ShaNiBackend();
Sha256Backend ShaNi2Backend();
Sha256Backend Avx2Backend();
Sha256Backend Avx512Backend();
#endif

} // namespace ibd::sha256
