// The lanes of crypto/lanes_field.h in portable C++ that checks every bound that the headers state,
// and the operands of each multiplication: one of 52 bits or more ends the test, where the
// instruction would drop its upper bits.
// To be included by one file of a test, first of all headers of the lanes.
#pragma once

#include "crypto/lanes.h"
#include "util/check.h"

namespace ibd::lanes {

namespace {

using CheckedVector = uint64_t __attribute__((vector_size(64)));

inline void CheckedMultiply(CheckedVector& sum, const CheckedVector& a, const CheckedVector& b,
                            bool high)
{
    for (size_t lane = 0; lane < 8; ++lane) {
        CHECK(a[lane] >> 52 == 0 && b[lane] >> 52 == 0);
        const Uint128 product = Uint128{a[lane]} * b[lane];
        const uint64_t low_bits = static_cast<uint64_t>(product) & ((uint64_t{1} << 52) - 1);
        const uint64_t added = high ? static_cast<uint64_t>(product >> 52) : low_bits;
        CHECK(sum[lane] + added >= added); // no sum wraps around
        sum[lane] += added;
    }
}

inline void CheckedAtMost(const CheckedVector& a, uint64_t most)
{
    for (size_t lane = 0; lane < 8; ++lane) CHECK(a[lane] <= most);
}

inline void CheckedBlend(CheckedVector& out, uint8_t mask, const CheckedVector& a,
                         const CheckedVector& b)
{
    for (size_t lane = 0; lane < 8; ++lane) out[lane] = (mask >> lane & 1) != 0 ? a[lane] : b[lane];
}

inline uint8_t CheckedEqual(const CheckedVector& a, const CheckedVector& b)
{
    uint8_t mask = 0;
    for (size_t lane = 0; lane < 8; ++lane)
        mask |= static_cast<uint8_t>((a[lane] == b[lane]) << lane);
    return mask;
}

} // namespace

} // namespace ibd::lanes

// As expressions, with the result in a variable of their own: vectors pass by reference only.
#define IBD_LANES 8
#define IBD_LANES_TARGET
#define IBD_LANES_PLAIN
#define IBD_AT_MOST(vector, most) CheckedAtMost(vector, most)
#define IBD_MUL_LOW(sum, a, b)                                                                     \
    __extension__({                                                                                \
        CheckedVector checked_result = (sum);                                                      \
        CheckedMultiply(checked_result, a, b, false);                                              \
        checked_result;                                                                            \
    })
#define IBD_MUL_HIGH(sum, a, b)                                                                    \
    __extension__({                                                                                \
        CheckedVector checked_result = (sum);                                                      \
        CheckedMultiply(checked_result, a, b, true);                                               \
        checked_result;                                                                            \
    })
#define IBD_BLEND(mask, a, b)                                                                      \
    __extension__({                                                                                \
        CheckedVector checked_result;                                                              \
        CheckedBlend(checked_result, mask, a, b);                                                  \
        checked_result;                                                                            \
    })
#define IBD_EQUAL(a, b) CheckedEqual(a, b)

#include "crypto/lanes_field.h"
#include "crypto/lanes_point.h"
#include "crypto/lanes_verify.h"
