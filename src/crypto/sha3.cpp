// See sha3.h.
#include "crypto/sha3.h"

#include "util/endian.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ibd {

namespace {

constexpr size_t kLanes = 25;
constexpr size_t kRate = 136; //!< bytes absorbed at a time: 200 - 2 * 32

using KeccakState = std::array<uint64_t, kLanes>; //!< lane (x, y) at x + 5 y

/** The bits of a round constant come from an eight-bit shift register (FIPS 202, 3.2.5). */
uint64_t NextRoundConstant(uint8_t& shift_register)
{
    uint64_t constant = 0;
    for (int j = 0; j < 7; ++j) {
        if (shift_register & 1) constant |= uint64_t{1} << ((1 << j) - 1);
        const bool out = (shift_register & 0x80) != 0;
        shift_register = static_cast<uint8_t>(shift_register << 1 ^ (out ? 0x71 : 0));
    }
    return constant;
}

void MixColumns(KeccakState& a) // theta
{
    std::array<uint64_t, 5> parity{};
    for (size_t i = 0; i < kLanes; ++i) parity[i % 5] ^= a[i];
    for (size_t i = 0; i < kLanes; ++i) {
        a[i] ^= parity[(i + 4) % 5] ^ std::rotl(parity[(i + 1) % 5], 1);
    }
}

void RotateAndMove(KeccakState& a) // rho and pi
{
    size_t x = 1, y = 0;
    uint64_t moving = a[1];
    for (int t = 0; t < 24; ++t) {
        const size_t next_y = (2 * x + 3 * y) % 5;
        x = y;
        y = next_y;
        moving = std::rotl(moving, (t + 1) * (t + 2) / 2 % 64);
        std::swap(moving, a[x + 5 * y]);
    }
}

void MixRows(KeccakState& a) // chi
{
    for (size_t y = 0; y < kLanes; y += 5) {
        const std::array<uint64_t, 5> row = {a[y], a[y + 1], a[y + 2], a[y + 3], a[y + 4]};
        for (size_t x = 0; x < 5; ++x) a[y + x] ^= ~row[(x + 1) % 5] & row[(x + 2) % 5];
    }
}

void Permute(KeccakState& a)
{
    uint8_t shift_register = 1;
    for (int round = 0; round < 24; ++round) {
        MixColumns(a);
        RotateAndMove(a);
        MixRows(a);
        a[0] ^= NextRoundConstant(shift_register);
    }
}

void Absorb(KeccakState& a, const std::array<uint8_t, kRate>& block)
{
    for (size_t i = 0; i < kRate / 8; ++i) a[i] ^= ReadLE64(block.data() + 8 * i);
    Permute(a);
}

} // namespace

Hash32 Sha3Of(ByteSpan data)
{
    KeccakState state{};
    std::array<uint8_t, kRate> block;
    for (; data.size() >= kRate; data = data.subspan(kRate)) {
        std::copy_n(data.begin(), kRate, block.begin());
        Absorb(state, block);
    }
    block.fill(0);
    std::copy(data.begin(), data.end(), block.begin());
    block[data.size()] = 0x06; // domain of SHA-3 and first bit of padding
    block[kRate - 1] |= 0x80;
    Absorb(state, block);
    Hash32 out;
    for (size_t i = 0; i < 4; ++i) WriteLE64(out.data() + 8 * i, state[i]);
    return out;
}

} // namespace ibd
