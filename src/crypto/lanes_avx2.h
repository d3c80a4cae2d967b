// The macros of lanes_vector.h for four lanes of AVX2 with FMA, which have no multiplication of
// 52-bit integers. Doubles hold such integers exactly, and with rounding toward zero a fused
// multiplication and addition gives either half of a product:
//   high = a * b + 2^104                     its last bit stands for 2^52
//   low  = a * b + (2^104 + 2^52 - high)     exact, and its last bit stands for one
// Both are below twice the power of two, so the lower 52 bits of the double are the half. (Emmart,
// Zheng and Weems, "Faster Modular Exponentiation Using Double Precision Floating Point Arithmetic
// on the GPU", 2018.) So they equal the instructions of AVX-512 IFMA bit for bit, with the same
// bounds. RoundTowardZero must be alive. To be included by one file, before the headers of the
// lanes.
#pragma once

#include <cstdint>
#include <immintrin.h>

#define IBD_LANES 4
#define IBD_LANES_TARGET __attribute__((target("avx2,fma")))

namespace ibd::lanes {

namespace {

constexpr uint64_t kBits2To52 = 0x4330000000000000;  //!< of the double 2^52
constexpr uint64_t kBits2To104 = 0x4670000000000000; //!< of the double 2^104
constexpr double k2To52 = 0x1p52, k2To104 = 0x1p104;

/** Sets the rounding mode of this thread while it lives. */
class RoundTowardZero {
public:
    RoundTowardZero() : m_before(_mm_getcsr())
    {
        _mm_setcsr((m_before & ~unsigned{_MM_ROUND_MASK}) | _MM_ROUND_TOWARD_ZERO);
    }
    ~RoundTowardZero() { _mm_setcsr(m_before); }
    RoundTowardZero(const RoundTowardZero&) = delete;
    RoundTowardZero& operator=(const RoundTowardZero&) = delete;

private:
    const unsigned m_before;
};

#define IBD_LANE(mask, lane) ((mask) >> (lane)&1 ? ~uint64_t{0} : 0)
#define IBD_ROW(mask)                                                                              \
    {                                                                                              \
        IBD_LANE(mask, 0), IBD_LANE(mask, 1), IBD_LANE(mask, 2), IBD_LANE(mask, 3)                 \
    }
/** The lanes of each mask, all bits set. */
alignas(32) constexpr uint64_t kLanesOfMask[16][4] = {
    IBD_ROW(0),  IBD_ROW(1),  IBD_ROW(2),  IBD_ROW(3), IBD_ROW(4),  IBD_ROW(5),
    IBD_ROW(6),  IBD_ROW(7),  IBD_ROW(8),  IBD_ROW(9), IBD_ROW(10), IBD_ROW(11),
    IBD_ROW(12), IBD_ROW(13), IBD_ROW(14), IBD_ROW(15)};
#undef IBD_ROW
#undef IBD_LANE

} // namespace

} // namespace ibd::lanes

#define IBD_TO_DOUBLE(a)                                                                           \
    _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(                                             \
                      (__m256i)(a), _mm256_set1_epi64x(static_cast<long long>(kBits2To52)))),      \
                  _mm256_set1_pd(k2To52))
#define IBD_HIGH_DOUBLE(a, b)                                                                      \
    _mm256_fmadd_pd(IBD_TO_DOUBLE(a), IBD_TO_DOUBLE(b), _mm256_set1_pd(k2To104))
#define IBD_LOW_DOUBLE(a, b)                                                                       \
    _mm256_fmadd_pd(IBD_TO_DOUBLE(a), IBD_TO_DOUBLE(b),                                            \
                    _mm256_sub_pd(_mm256_set1_pd(k2To104 + k2To52), IBD_HIGH_DOUBLE(a, b)))
#define IBD_MUL_HIGH(sum, a, b)                                                                    \
    ((sum) + ((Vector)_mm256_castpd_si256(IBD_HIGH_DOUBLE(a, b)) - kBits2To104))
#define IBD_MUL_LOW(sum, a, b)                                                                     \
    ((sum) + ((Vector)_mm256_castpd_si256(IBD_LOW_DOUBLE(a, b)) - kBits2To52))
#define IBD_BLEND(mask, a, b)                                                                      \
    (Vector) _mm256_blendv_epi8((__m256i)(b), (__m256i)(a),                                        \
                                _mm256_load_si256((const __m256i*)kLanesOfMask[(mask)&15]))
#define IBD_EQUAL(a, b)                                                                            \
    static_cast<uint8_t>(                                                                          \
        _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64((__m256i)(a), (__m256i)(b)))))
