// SHA-256 in two times sixteen AVX-512 lanes.
#if defined(__x86_64__)
#include <immintrin.h>

#define IBD_LANES 16
#define IBD_LANES_VECTORS 2
#define IBD_LANES_TARGET __attribute__((target("avx512f,avx512bw")))
#define IBD_LANES_BSWAP(v)                                                                         \
    (V) _mm512_shuffle_epi8((__m512i)(v),                                                          \
                            _mm512_set4_epi32(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203))
#define IBD_LANES_LOAD(v, p, n) ((v) = (V)_mm512_maskz_loadu_epi32((1u << (n)) - 1, p))
#include "crypto/sha256_lanes.h"

namespace ibd::sha256 {

Sha256Backend Avx512Backend()
{
    const bool available =
        __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
    return LanesBackend("avx512", available);
}

} // namespace ibd::sha256
#endif
