// SHA-256 with the x86 SHA extensions, one message at a time or two interleaved. A pair of rounds
// depends on the pair before it; a second, independent message fills the latency.
#if defined(__x86_64__)
#include "crypto/sha256_internal.h"

#include <cpuid.h>
#include <immintrin.h>
#include <utility>

#define IBD_SHANI __attribute__((target("sha,sse4.1")))
#define IBD_SHANI_INLINE IBD_SHANI __attribute__((always_inline)) inline

namespace ibd::sha256 {

namespace {

/** One message: state words in the instructions' order (a b e f, c d g h) and 16 message words. */
struct Stream {
    __m128i abef, cdgh;
    __m128i m[4];
};

IBD_SHANI_INLINE __m128i Load(const void* p)
{
    return _mm_loadu_si128(static_cast<const __m128i*>(p));
}

IBD_SHANI_INLINE void Store(void* p, __m128i v) { _mm_storeu_si128(static_cast<__m128i*>(p), v); }

IBD_SHANI_INLINE __m128i Swap(__m128i v)
{
    return _mm_shuffle_epi8(v, _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
}

IBD_SHANI_INLINE void LoadState(Stream& x, const uint32_t* state)
{
    const __m128i badc = _mm_shuffle_epi32(Load(state), 0xb1);
    const __m128i hgfe = _mm_shuffle_epi32(Load(state + 4), 0x1b);
    x.abef = _mm_alignr_epi8(badc, hgfe, 8);
    x.cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
}

/** Words a..d and e..h in memory order. */
IBD_SHANI_INLINE void UnpackState(const Stream& x, __m128i& abcd, __m128i& efgh)
{
    const __m128i feba = _mm_shuffle_epi32(x.abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(x.cdgh, 0xb1);
    abcd = _mm_blend_epi16(feba, dchg, 0xf0);
    efgh = _mm_alignr_epi8(dchg, feba, 8);
}

IBD_SHANI_INLINE void LoadBlock(Stream& x, const uint8_t* block)
{
    for (int i = 0; i < 4; ++i) x.m[i] = Swap(Load(block + 16 * i));
}

/** Words of the block that holds an outpoint and the padding of a 100-byte message. */
IBD_SHANI_INLINE void LoadOutpoint(Stream& x, const uint8_t* message)
{
    x.m[0] = Swap(Load(message));
    x.m[1] = Swap(Load(message + 16));
    x.m[2] =
        _mm_set_epi32(0, 0, static_cast<int>(0x80000000), static_cast<int>(ReadBE32(message + 32)));
    x.m[3] = _mm_set_epi32(static_cast<int>(kOutpointBits), 0, 0, 0);
}

/** Adds the padding after a digest in m[0] and m[1], and starts a new state. */
IBD_SHANI_INLINE void StartDigest(Stream& x)
{
    x.m[2] = _mm_set_epi32(0, 0, 0, static_cast<int>(0x80000000));
    x.m[3] = _mm_set_epi32(static_cast<int>(kDigestBits), 0, 0, 0);
    LoadState(x, kSha256Initial.data());
}

/** Makes the digest of x its next, padded message block; restarts the state. */
IBD_SHANI_INLINE void DigestAgain(Stream& x)
{
    UnpackState(x, x.m[0], x.m[1]);
    StartDigest(x);
}

IBD_SHANI_INLINE void LoadDigest(Stream& x, const Hash32& digest)
{
    x.m[0] = Swap(Load(digest.data()));
    x.m[1] = Swap(Load(digest.data() + 16));
    StartDigest(x);
}

IBD_SHANI_INLINE void StoreDigest(const Stream& x, Hash32& out)
{
    __m128i abcd, efgh;
    UnpackState(x, abcd, efgh);
    Store(out.data(), Swap(abcd));
    Store(out.data() + 16, Swap(efgh));
}

/** Words 4Q .. 4Q+3 of the schedule; they replace the four words of 16 rounds earlier. */
template <size_t Q>
IBD_SHANI_INLINE void Expand(Stream& x)
{
    if constexpr (Q >= 4) {
        const __m128i last = x.m[(Q + 3) % 4];
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(x.m[Q % 4], x.m[(Q + 1) % 4]),
                                          _mm_alignr_epi8(last, x.m[(Q + 2) % 4], 4));
        x.m[Q % 4] = _mm_sha256msg2_epu32(sum, last);
    }
}

/** Rounds 4Q .. 4Q+3 of every stream, interleaved so that the streams overlap. */
template <size_t Q, typename... Streams>
IBD_SHANI_INLINE void FourRounds(Streams&... x)
{
    (Expand<Q>(x), ...);
    const __m128i k = Load(&kRound[4 * Q]);
    ((x.cdgh = _mm_sha256rnds2_epu32(x.cdgh, x.abef, _mm_add_epi32(x.m[Q % 4], k))), ...);
    ((x.abef = _mm_sha256rnds2_epu32(x.abef, x.cdgh,
                                     _mm_shuffle_epi32(_mm_add_epi32(x.m[Q % 4], k), 0x0e))),
     ...);
}

/** Rounds 4Q .. 4Q+3 of the padding block of a 64-byte message. */
template <size_t Q, typename... Streams>
IBD_SHANI_INLINE void FourPaddingRounds(Streams&... x)
{
    const __m128i kw = Load(&kNodePaddingRounds[4 * Q]);
    const __m128i upper = _mm_shuffle_epi32(kw, 0x0e);
    ((x.cdgh = _mm_sha256rnds2_epu32(x.cdgh, x.abef, kw)), ...);
    ((x.abef = _mm_sha256rnds2_epu32(x.abef, x.cdgh, upper)), ...);
}

template <size_t... Q, typename... Streams>
IBD_SHANI_INLINE void Rounds(std::index_sequence<Q...>, Streams&... x)
{
    (FourRounds<Q>(x...), ...);
}

template <size_t... Q, typename... Streams>
IBD_SHANI_INLINE void PaddingRounds(std::index_sequence<Q...>, Streams&... x)
{
    (FourPaddingRounds<Q>(x...), ...);
}

/** Adds the state before the rounds. */
IBD_SHANI_INLINE void AddState(Stream& x, const Stream& before)
{
    x.abef = _mm_add_epi32(x.abef, before.abef);
    x.cdgh = _mm_add_epi32(x.cdgh, before.cdgh);
}

constexpr auto kQuads = std::make_index_sequence<16>{};

IBD_SHANI_INLINE void Compress(Stream& x)
{
    const Stream before = x;
    Rounds(kQuads, x);
    AddState(x, before);
}

IBD_SHANI_INLINE void Compress(Stream& x, Stream& y)
{
    const Stream x_before = x;
    const Stream y_before = y;
    Rounds(kQuads, x, y);
    AddState(x, x_before);
    AddState(y, y_before);
}

template <typename... Streams>
IBD_SHANI_INLINE void CompressNodePadding(Streams&... x)
{
    const Stream before[] = {x...};
    PaddingRounds(kQuads, x...);
    const Stream* b = before;
    (AddState(x, *b++), ...);
}

IBD_SHANI_INLINE void StoreState(const Stream& x, uint32_t* state)
{
    __m128i abcd, efgh;
    UnpackState(x, abcd, efgh);
    Store(state, abcd);
    Store(state + 4, efgh);
}

IBD_SHANI_INLINE void Absorb(Stream& x, const uint8_t* data, size_t blocks)
{
    for (; blocks > 0; --blocks, data += 64) {
        LoadBlock(x, data);
        Compress(x);
    }
}

IBD_SHANI void Transform(Sha256State& state, const uint8_t* data, size_t blocks)
{
    Stream x;
    LoadState(x, state.data());
    Absorb(x, data, blocks);
    StoreState(x, state.data());
}

/** Loads lane `lane`, which starts a message if its bit is set. */
IBD_SHANI_INLINE void LoadLane(Stream& x, const uint32_t* states, uint32_t fresh, size_t lane)
{
    LoadState(x, (fresh >> lane & 1) != 0 ? kSha256Initial.data() : states + 8 * lane);
}

IBD_SHANI void LanesTransform1(uint32_t* states, uint32_t fresh, const uint8_t* const* data,
                               size_t blocks)
{
    Stream x;
    LoadLane(x, states, fresh, 0);
    Absorb(x, data[0], blocks);
    StoreState(x, states);
}

IBD_SHANI void LanesTransform2(uint32_t* states, uint32_t fresh, const uint8_t* const* data,
                               size_t blocks)
{
    Stream x, y;
    LoadLane(x, states, fresh, 0);
    LoadLane(y, states, fresh, 1);
    for (size_t i = 0; i < blocks; ++i) {
        LoadBlock(x, data[0] + 64 * i);
        LoadBlock(y, data[1] + 64 * i);
        Compress(x, y);
    }
    StoreState(x, states);
    StoreState(y, states + 8);
}

IBD_SHANI void Outpoints1(const Sha256State& midstate, const uint8_t* messages, size_t stride,
                          size_t count, Hash32* out)
{
    for (size_t i = 0; i < count; ++i) {
        Stream x;
        LoadState(x, midstate.data());
        LoadOutpoint(x, messages + i * stride);
        Compress(x);
        StoreDigest(x, out[i]);
    }
}

IBD_SHANI void Outpoints2(const Sha256State& midstate, const uint8_t* messages, size_t stride,
                          size_t count, Hash32* out)
{
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        Stream x, y;
        LoadState(x, midstate.data());
        LoadState(y, midstate.data());
        LoadOutpoint(x, messages + i * stride);
        LoadOutpoint(y, messages + (i + 1) * stride);
        Compress(x, y);
        StoreDigest(x, out[i]);
        StoreDigest(y, out[i + 1]);
    }
    Outpoints1(midstate, messages + i * stride, stride, count - i, out + i);
}

IBD_SHANI void Double64x1(const uint8_t* messages, size_t count, Hash32* out)
{
    for (size_t i = 0; i < count; ++i) {
        Stream x;
        LoadState(x, kSha256Initial.data());
        LoadBlock(x, messages + 64 * i);
        Compress(x);
        CompressNodePadding(x);
        DigestAgain(x);
        Compress(x);
        StoreDigest(x, out[i]);
    }
}

IBD_SHANI void Double64x2(const uint8_t* messages, size_t count, Hash32* out)
{
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        Stream x, y;
        LoadState(x, kSha256Initial.data());
        LoadState(y, kSha256Initial.data());
        LoadBlock(x, messages + 64 * i);
        LoadBlock(y, messages + 64 * i + 64);
        Compress(x, y);
        CompressNodePadding(x, y);
        DigestAgain(x);
        DigestAgain(y);
        Compress(x, y);
        StoreDigest(x, out[i]);
        StoreDigest(y, out[i + 1]);
    }
    Double64x1(messages + 64 * i, count - i, out + i);
}

IBD_SHANI void Digests1(Hash32* digests, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        Stream x;
        LoadDigest(x, digests[i]);
        Compress(x);
        StoreDigest(x, digests[i]);
    }
}

IBD_SHANI void Digests2(Hash32* digests, size_t count)
{
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        Stream x, y;
        LoadDigest(x, digests[i]);
        LoadDigest(y, digests[i + 1]);
        Compress(x, y);
        StoreDigest(x, digests[i]);
        StoreDigest(y, digests[i + 1]);
    }
    Digests1(digests + i, count - i);
}

bool HasShaNi()
{
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    return (b >> 29 & 1) != 0 && __builtin_cpu_supports("sse4.1") != 0;
}

} // namespace

Sha256Backend ShaNiBackend()
{
    return {.name = "sha-ni",
            .available = HasShaNi(),
            .lanes = 1,
            .word_stride = 1,
            .lane_stride = 8,
            .transform = Transform,
            .lanes_transform = LanesTransform1,
            .digests = Digests1,
            .outpoints = Outpoints1,
            .double64 = Double64x1};
}

Sha256Backend ShaNi2Backend()
{
    Sha256Backend backend = ShaNiBackend();
    backend.name = "sha-ni x2";
    backend.lanes = 2;
    backend.lanes_transform = LanesTransform2;
    backend.digests = Digests2;
    backend.outpoints = Outpoints2;
    backend.double64 = Double64x2;
    return backend;
}

} // namespace ibd::sha256
#endif
