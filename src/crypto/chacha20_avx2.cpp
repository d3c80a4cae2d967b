// ChaCha20 in eight AVX2 lanes.
#if defined(__x86_64__)
#include <immintrin.h>

#define IBD_LANES 8
#define IBD_LANES_TARGET __attribute__((target("avx2")))
// Byte 4i + j of each half comes from byte 4i + (j - n mod 4).
#define IBD_ROTATE_BYTES(v, n)                                                                     \
    (V) _mm256_shuffle_epi8(                                                                       \
        (__m256i)(v), (n) == 1 ? _mm256_set_epi8(14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1,   \
                                                 0, 3, 14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7,   \
                                                 2, 1, 0, 3)                                       \
                               : _mm256_set_epi8(13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0,   \
                                                 3, 2, 13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6,   \
                                                 1, 0, 3, 2))
#include "crypto/chacha20_lanes.h"

namespace ibd::chacha20 {

Backend Avx2Backend()
{
    return {"avx2", __builtin_cpu_supports("avx2") != 0, IBD_LANES, NextBlocks};
}

} // namespace ibd::chacha20
#endif
