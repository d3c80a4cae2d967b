// SipHash-2-4 of eight hashes at a time: two AVX2 vectors of four lanes: the rounds of one vector
// depend on each other, and the second fills the latency.
#if defined(__x86_64__)
#include "crypto/siphash_batch.h"
#include "crypto/siphash_round.h"

#include <immintrin.h>

#define IBD_AVX2 __attribute__((target("avx2")))
#define IBD_AVX2_INLINE IBD_AVX2 __attribute__((always_inline)) inline

namespace ibd::sip {

namespace {

constexpr size_t kHashBytes = 32;
constexpr size_t kLanes = 4;
constexpr size_t kVectors = 2;

/** One word of the state of each lane, for each vector. */
struct Words {
    __m256i v[kVectors];
};

template <int N>
IBD_AVX2_INLINE __m256i Rotated(__m256i x)
{
    if constexpr (N == 32) return _mm256_shuffle_epi32(x, 0xb1);
    if constexpr (N == 16) {
        const __m256i places =
            _mm256_set_epi8(13, 12, 11, 10, 9, 8, 15, 14, 5, 4, 3, 2, 1, 0, 7, 6, 13, 12, 11, 10, 9,
                            8, 15, 14, 5, 4, 3, 2, 1, 0, 7, 6);
        return _mm256_shuffle_epi8(x, places);
    }
    return _mm256_or_si256(_mm256_slli_epi64(x, N), _mm256_srli_epi64(x, 64 - N));
}

/** x += y; y = rotated y ^ x: half of a step of the round. */
template <int N>
IBD_AVX2_INLINE void Mix(Words& x, Words& y)
{
    for (size_t i = 0; i < kVectors; ++i) {
        x.v[i] = _mm256_add_epi64(x.v[i], y.v[i]);
        y.v[i] = _mm256_xor_si256(Rotated<N>(y.v[i]), x.v[i]);
    }
}

IBD_AVX2_INLINE void Turn(Words& x)
{
    for (__m256i& v : x.v) v = Rotated<32>(v);
}

IBD_AVX2_INLINE void LaneRound(Words (&v)[4])
{
    Mix<13>(v[0], v[1]);
    Mix<16>(v[2], v[3]);
    Turn(v[0]);
    Mix<17>(v[2], v[1]);
    Mix<21>(v[0], v[3]);
    Turn(v[2]);
}

IBD_AVX2_INLINE void Add(Words& x, const Words& y)
{
    for (size_t i = 0; i < kVectors; ++i) x.v[i] = _mm256_xor_si256(x.v[i], y.v[i]);
}

IBD_AVX2_INLINE void AbsorbWords(Words (&v)[4], const Words& word)
{
    Add(v[3], word);
    LaneRound(v);
    LaneRound(v);
    Add(v[0], word);
}

IBD_AVX2_INLINE Words Filled(uint64_t value)
{
    Words out;
    for (__m256i& v : out.v) v = _mm256_set1_epi64x(static_cast<long long>(value));
    return out;
}

/** The words of four hashes: word k of hash j in lane j of out[k]. */
IBD_AVX2_INLINE void LoadFour(const uint8_t* hashes, __m256i (&out)[4])
{
    __m256i in[kLanes];
    for (size_t j = 0; j < kLanes; ++j) {
        in[j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(hashes + kHashBytes * j));
    }
    const __m256i low01 = _mm256_unpacklo_epi64(in[0], in[1]);
    const __m256i high01 = _mm256_unpackhi_epi64(in[0], in[1]);
    const __m256i low23 = _mm256_unpacklo_epi64(in[2], in[3]);
    const __m256i high23 = _mm256_unpackhi_epi64(in[2], in[3]);
    out[0] = _mm256_permute2x128_si256(low01, low23, 0x20);
    out[1] = _mm256_permute2x128_si256(high01, high23, 0x20);
    out[2] = _mm256_permute2x128_si256(low01, low23, 0x31);
    out[3] = _mm256_permute2x128_si256(high01, high23, 0x31);
}

IBD_AVX2_INLINE void HashEight(const State& start, const uint8_t* hashes, uint64_t* out)
{
    Words v[4];
    for (size_t i = 0; i < 4; ++i) v[i] = Filled(start[i]);
    __m256i words[kVectors][4];
    for (size_t i = 0; i < kVectors; ++i) LoadFour(hashes + kLanes * kHashBytes * i, words[i]);
    for (size_t k = 0; k < 4; ++k) AbsorbWords(v, {{words[0][k], words[1][k]}});
    AbsorbWords(v, Filled(uint64_t{kHashBytes} << 56)); // size, and no bytes left
    Add(v[2], Filled(0xff));
    for (int i = 0; i < 4; ++i) LaneRound(v);
    for (size_t i = 1; i < 4; ++i) Add(v[0], v[i]);
    for (size_t i = 0; i < kVectors; ++i) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + kLanes * i), v[0].v[i]);
    }
}

IBD_AVX2 void HashAll(SipKey key, const uint8_t* hashes, size_t count, uint64_t* out)
{
    constexpr size_t kAtOnce = kLanes * kVectors;
    const State start = InitialState(key.k0, key.k1);
    size_t done = 0;
    for (; done + kAtOnce <= count; done += kAtOnce) {
        HashEight(start, hashes + kHashBytes * done, out + done);
    }
    Backends().front().hash(key, hashes + kHashBytes * done, count - done, out + done);
}

} // namespace

Backend Avx2Backend() { return {"avx2", __builtin_cpu_supports("avx2") != 0, HashAll}; }

} // namespace ibd::sip
#endif
