// Input and output of SHA-256's compression function. See sha256.h.
#pragma once

#include <array>
#include <cstdint>

namespace ibd {

/** A 32-byte digest or key, in memory order (not reversed as in Bitcoin's display). */
using Hash32 = std::array<uint8_t, 32>;

/** The eight 32-bit working words between two blocks. */
using Sha256State = std::array<uint32_t, 8>;

/** The state before the first block. */
constexpr Sha256State kSha256Initial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

} // namespace ibd
