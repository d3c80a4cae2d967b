// The macros of lanes_vector.h for eight lanes of AVX-512 IFMA, which multiplies 52-bit numbers in
// 64-bit elements. Builds without optimization check every bound. To be included before the other
// headers of the lanes.
#pragma once

#include "util/check.h"

#include <immintrin.h>

#define IBD_LANES 8
#define IBD_LANES_TARGET __attribute__((target("avx512f,avx512dq,avx512ifma")))
#define IBD_MUL_LOW(sum, a, b)                                                                     \
    (Vector) _mm512_madd52lo_epu64((__m512i)(sum), (__m512i)(a), (__m512i)(b))
#define IBD_MUL_HIGH(sum, a, b)                                                                    \
    (Vector) _mm512_madd52hi_epu64((__m512i)(sum), (__m512i)(a), (__m512i)(b))
#define IBD_BLEND(mask, a, b) (Vector) _mm512_mask_blend_epi64(mask, (__m512i)(b), (__m512i)(a))
#define IBD_EQUAL(a, b) _mm512_cmpeq_epu64_mask((__m512i)(a), (__m512i)(b))
#ifndef __OPTIMIZE__
#define IBD_AT_MOST(vector, most)                                                                  \
    CHECK(_mm512_cmpgt_epu64_mask((__m512i)(vector),                                               \
                                  _mm512_set1_epi64(static_cast<long long>(most))) == 0)
#endif

namespace ibd::lanes {

/** Whether this processor has the instructions. */
inline bool HasIfma()
{
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512ifma") != 0;
}

} // namespace ibd::lanes
