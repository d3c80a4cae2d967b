// SHA-256 in eight AVX2 lanes.
#if defined(__x86_64__)
#include <immintrin.h>

#define IBD_LANES 8
#define IBD_LANES_VECTORS 1
#define IBD_LANES_TARGET __attribute__((target("avx2")))
#define IBD_LANES_BSWAP(v)                                                                         \
    (V) _mm256_shuffle_epi8((__m256i)(v),                                                          \
                            _mm256_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3,  \
                                            12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3))
#include "crypto/sha256_lanes.h"

namespace ibd::sha256 {

Sha256Backend Avx2Backend() { return LanesBackend("avx2", __builtin_cpu_supports("avx2") != 0); }

} // namespace ibd::sha256
#endif
