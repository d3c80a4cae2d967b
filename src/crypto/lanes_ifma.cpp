// The lanes of lanes_field.h with AVX-512 IFMA, which multiplies 52-bit numbers in 64-bit elements.
#include "crypto/lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define IBD_LANES_TARGET __attribute__((target("avx512f,avx512dq,avx512ifma")))
#define IBD_MUL_LOW(sum, a, b)                                                                     \
    (Vector) _mm512_madd52lo_epu64((__m512i)(sum), (__m512i)(a), (__m512i)(b))
#define IBD_MUL_HIGH(sum, a, b)                                                                    \
    (Vector) _mm512_madd52hi_epu64((__m512i)(sum), (__m512i)(a), (__m512i)(b))
#define IBD_BLEND(mask, a, b) (Vector) _mm512_mask_blend_epi64(mask, (__m512i)(b), (__m512i)(a))
#define IBD_EQUAL(a, b) _mm512_cmpeq_epu64_mask((__m512i)(a), (__m512i)(b))
// Separate functions set and read lanes; all other functions are inlined into functions for the
// target.
#include "crypto/lanes_field.h"
#include "crypto/lanes_point.h"
#include "crypto/lanes_verify.h"

namespace ibd::lanes {

VerifyFunction IfmaVerifier()
{
    const bool available = __builtin_cpu_supports("avx512f") != 0 &&
                           __builtin_cpu_supports("avx512dq") != 0 &&
                           __builtin_cpu_supports("avx512ifma") != 0;
    return available ? VerifyAll : nullptr;
}

} // namespace ibd::lanes
#else
ibd::lanes::VerifyFunction ibd::lanes::IfmaVerifier() { return nullptr; }
#endif
