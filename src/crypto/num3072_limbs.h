// The limbs of a 3,072-bit integer, for the arithmetic of MuHash. See muhash.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ibd {

inline constexpr size_t kNum3072Limbs = 48;
/** 2^3072 minus this is the modulus, the largest safe prime below 2^3072. */
inline constexpr uint64_t kNum3072Excess = 1103717;
using Num3072Limbs = std::array<uint64_t, kNum3072Limbs>; //!< least significant first

} // namespace ibd
