// IntegerLog2: binary logarithms in integers, so that hints writers make the same choices on every
// machine. Pure.
#pragma once

#include <bit>
#include <cstdint>

namespace ibd {

/** The value of IntegerLog2() for one bit. */
inline constexpr uint64_t kLog2Unit = 65'536;

/** 65,536 times the binary logarithm of 1..1024, rounded down. */
constexpr uint64_t IntegerLog2(uint32_t value)
{
    const auto whole = static_cast<unsigned>(std::bit_width(value)) - 1;
    uint64_t mantissa = uint64_t{value} << (31 - whole); // 1.31 bits
    uint64_t result = whole;
    for (int i = 0; i < 16; ++i) {
        mantissa = mantissa * mantissa >> 31;
        const uint64_t bit = mantissa >> 32;
        mantissa >>= bit;
        result = result << 1 | bit;
    }
    return result;
}

} // namespace ibd
