// SHA-256 of IBD_LANES messages side by side, one in each 32-bit element of a vector register.
// Included by the file of each vector instruction set, which first defines
//   IBD_LANES            4, 8 or 16
//   IBD_LANES_TARGET     the function attribute that enables the instructions
//   IBD_LANES_BSWAP(v)   each element from big-endian to native byte order
// and, if there is one instruction for it,
//   IBD_LANES_LOAD(v, p, n) sets v to the n words at p, then zeros
// Everything is in an unnamed namespace, so that no copy compiled for one instruction set can be
// linked into code for another. Vectors pass by reference only: their ABI depends on the target.
#include "crypto/sha256_internal.h"

#include <utility>

#ifndef IBD_LANES_LOAD
#define IBD_LANES_LOAD(v, p, n) LoadPart<n>(v, p)
#endif

// Vectors in arrays stay in registers only where the compiler knows every index; gcc does not
// unroll so far by itself.
#define IBD_LANES_UNROLL _Pragma("GCC unroll 16")

#define IBD_LANES_INLINE IBD_LANES_TARGET __attribute__((always_inline)) inline

namespace ibd::sha256 {

namespace {

constexpr size_t kLanes = IBD_LANES;
typedef uint32_t V __attribute__((vector_size(4 * IBD_LANES)));

#define IBD_ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))

/** Round J of 16. The roles of the eight words move by one each round; the indices rotate instead
 *  of the words. */
template <size_t J>
IBD_LANES_INLINE void LaneRound(V (&s)[8], const V& w, uint32_t k)
{
    const V& a = s[(16 - J) % 8];
    const V& b = s[(17 - J) % 8];
    const V& c = s[(18 - J) % 8];
    V& d = s[(19 - J) % 8];
    const V& e = s[(20 - J) % 8];
    const V& f = s[(21 - J) % 8];
    const V& g = s[(22 - J) % 8];
    V& h = s[(23 - J) % 8];
    const V t1 =
        h + (IBD_ROTR(e, 6) ^ IBD_ROTR(e, 11) ^ IBD_ROTR(e, 25)) + (g ^ (e & (f ^ g))) + (w + k);
    d += t1;
    h = t1 + (IBD_ROTR(a, 2) ^ IBD_ROTR(a, 13) ^ IBD_ROTR(a, 22)) + ((a & b) | (c & (a | b)));
}

template <size_t J>
IBD_LANES_INLINE void LaneExpand(V (&w)[16])
{
    const V& x = w[(J + 1) % 16];
    const V& y = w[(J + 14) % 16];
    w[J] += (IBD_ROTR(x, 7) ^ IBD_ROTR(x, 18) ^ (x >> 3)) + w[(J + 9) % 16] +
            (IBD_ROTR(y, 17) ^ IBD_ROTR(y, 19) ^ (y >> 10));
}

template <size_t... J>
IBD_LANES_INLINE void FirstRounds(V (&s)[8], const V (&w)[16], std::index_sequence<J...>)
{
    (LaneRound<J>(s, w[J], kRound[J]), ...);
}

template <size_t... J>
IBD_LANES_INLINE void NextRounds(V (&s)[8], V (&w)[16], const uint32_t* k,
                                 std::index_sequence<J...>)
{
    ((LaneExpand<J>(w), LaneRound<J>(s, w[J], k[J])), ...);
}

template <size_t... J>
IBD_LANES_INLINE void ConstantRounds(V (&s)[8], const uint32_t* kw, std::index_sequence<J...>)
{
    (LaneRound<J>(s, V{}, kw[J]), ...);
}

/** s = s + rounds(s, w); destroys w. */
IBD_LANES_INLINE void LaneCompress(V (&s)[8], V (&w)[16])
{
    constexpr auto kSixteen = std::make_index_sequence<16>{};
    V v[8] = {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]};
    FirstRounds(v, w, kSixteen);
    for (size_t base = 16; base < 64; base += 16) NextRounds(v, w, &kRound[base], kSixteen);
    IBD_LANES_UNROLL
    for (size_t i = 0; i < 8; ++i) s[i] += v[i];
}

/** As LaneCompress for the padding block of a 64-byte message. */
IBD_LANES_INLINE void LaneCompressNodePadding(V (&s)[8])
{
    constexpr auto kSixteen = std::make_index_sequence<16>{};
    V v[8] = {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]};
    for (size_t base = 0; base < 64; base += 16) {
        ConstantRounds(v, &kNodePaddingRounds[base], kSixteen);
    }
    IBD_LANES_UNROLL
    for (size_t i = 0; i < 8; ++i) s[i] += v[i];
}

#if IBD_LANES == 4
#define IBD_LOW 0, 4, 1, 5
#define IBD_HIGH 2, 6, 3, 7
#elif IBD_LANES == 8
#define IBD_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define IBD_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#else
#define IBD_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define IBD_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#endif

/** Transposes a square of words. Interleaving row i with row i + half moves the top bit of the
 *  row number to the bottom of the word address; after log2(lanes) times rows are columns. */
IBD_LANES_INLINE void Transpose(V (&rows)[kLanes])
{
    IBD_LANES_UNROLL
    for (size_t size = 1; size < kLanes; size *= 2) {
        V next[kLanes];
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kLanes / 2; ++i) {
            next[2 * i] = __builtin_shufflevector(rows[i], rows[i + kLanes / 2], IBD_LOW);
            next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + kLanes / 2], IBD_HIGH);
        }
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kLanes; ++i) rows[i] = next[i];
    }
}

template <size_t Words>
IBD_LANES_INLINE void LoadPart(V& v, const uint8_t* p)
{
    v = V{};
    std::memcpy(&v, p, 4 * Words);
}

/** Word j of every lane's message into w[j], for the first `Words` words; the others become zero,
 *  and no byte of them is read. */
template <size_t Words>
IBD_LANES_INLINE void LoadWords(V (&w)[16], const uint8_t* const* messages)
{
    IBD_LANES_UNROLL
    for (size_t j = Words; j < 16; ++j) w[j] = V{};
    constexpr size_t kFull = Words / kLanes * kLanes;
    IBD_LANES_UNROLL
    for (size_t base = 0; base < kFull; base += kLanes) {
        V rows[kLanes];
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kLanes; ++i) {
            std::memcpy(&rows[i], messages[i] + 4 * base, sizeof(V));
        }
        Transpose(rows);
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kLanes; ++i) w[base + i] = IBD_LANES_BSWAP(rows[i]);
    }
    if constexpr (kFull < Words) {
        V rows[kLanes];
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kLanes; ++i) {
            IBD_LANES_LOAD(rows[i], messages[i] + 4 * kFull, Words - kFull);
        }
        Transpose(rows);
        IBD_LANES_UNROLL
        for (size_t j = kFull; j < Words; ++j) w[j] = IBD_LANES_BSWAP(rows[j - kFull]);
    }
}

/** What follows a message that ends within this block, after its `Words` words. */
template <size_t Words>
IBD_LANES_INLINE void Pad(V (&w)[16], uint32_t bits)
{
    w[Words] += 0x80000000;
    w[15] += bits;
}

IBD_LANES_INLINE void StartAll(V (&s)[8], const Sha256State& state)
{
    IBD_LANES_UNROLL
    for (size_t j = 0; j < 8; ++j) s[j] = V{} + state[j];
}

/** The states of all lanes as digests, one after the other. */
IBD_LANES_INLINE void StoreDigests(const V (&s)[8], Hash32* out)
{
    constexpr size_t kWords = kLanes < 8 ? kLanes : 8; // of a digest, in one row
    IBD_LANES_UNROLL
    for (size_t base = 0; base < 8; base += kWords) {
        V rows[kLanes]{};
        IBD_LANES_UNROLL
        for (size_t j = 0; j < kWords; ++j) rows[j] = IBD_LANES_BSWAP(s[base + j]);
        Transpose(rows);
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kLanes; ++i) {
            std::memcpy(out[i].data() + 4 * base, &rows[i], 4 * kWords);
        }
    }
}

/** All ones in the lanes whose bit is set. */
IBD_LANES_INLINE void MaskOf(V& mask, uint32_t bits)
{
    V number{};
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLanes; ++i) number[i] = static_cast<uint32_t>(i);
    mask = V{} - (((V{} + bits) >> number) & 1);
}

IBD_LANES_TARGET void LanesTransform(uint32_t* states, uint32_t fresh, const uint8_t* const* data,
                                     size_t blocks)
{
    const uint8_t* at[kLanes];
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLanes; ++i) at[i] = data[i];
    V s[8];
    std::memcpy(s, states, sizeof s);
    V started;
    MaskOf(started, fresh);
    IBD_LANES_UNROLL
    for (size_t j = 0; j < 8; ++j) s[j] = (s[j] & ~started) | (started & kSha256Initial[j]);
    for (size_t n = 0; n < blocks; ++n) {
        V w[16];
        LoadWords<16>(w, at);
        LaneCompress(s, w);
        for (const uint8_t*& p : at) p += 64;
    }
    std::memcpy(states, s, sizeof s);
}

/** Calls `take` with the addresses of messages of every lane and room for their digests, until none
 *  of `count` is left. Lanes without a message repeat the last one. `at` says where message i is.
 */
template <typename At, typename Take>
IBD_LANES_INLINE void ForAll(size_t count, Hash32* out, const At& at, const Take& take)
{
    for (size_t done = 0; done < count; done += kLanes) {
        const size_t n = count - done < kLanes ? count - done : kLanes;
        const uint8_t* messages[kLanes];
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kLanes; ++i) messages[i] = at(done + (i < n ? i : n - 1));
        Hash32 digests[kLanes];
        take(messages, n == kLanes ? out + done : digests);
        if (n < kLanes) std::memcpy(out + done, digests, n * sizeof(Hash32));
    }
}

IBD_LANES_TARGET void Outpoints(const Sha256State& midstate, const uint8_t* messages, size_t stride,
                                size_t count, Hash32* out)
{
    const auto at = [&](size_t i) { return messages + i * stride; };
    const auto hash = [&](const uint8_t* const* lanes, Hash32* digests) IBD_LANES_TARGET {
        V w[16];
        V s[8];
        LoadWords<9>(w, lanes);
        Pad<9>(w, kOutpointBits);
        StartAll(s, midstate);
        LaneCompress(s, w);
        StoreDigests(s, digests);
    };
    ForAll(count, out, at, hash);
}

IBD_LANES_TARGET void Digests(Hash32* digests, size_t count)
{
    const auto at = [&](size_t i) { return digests[i].data(); };
    const auto hash = [](const uint8_t* const* lanes, Hash32* out) IBD_LANES_TARGET {
        V w[16];
        V s[8];
        LoadWords<8>(w, lanes);
        Pad<8>(w, kDigestBits);
        StartAll(s, kSha256Initial);
        LaneCompress(s, w);
        StoreDigests(s, out);
    };
    ForAll(count, digests, at, hash);
}

IBD_LANES_TARGET void Double64(const uint8_t* messages, size_t count, Hash32* out)
{
    const auto at = [&](size_t i) { return messages + i * 64; };
    const auto hash = [](const uint8_t* const* lanes, Hash32* digests) IBD_LANES_TARGET {
        V w[16];
        V s[8];
        LoadWords<16>(w, lanes);
        StartAll(s, kSha256Initial);
        LaneCompress(s, w);
        LaneCompressNodePadding(s);
        IBD_LANES_UNROLL
        for (size_t j = 0; j < 8; ++j) {
            w[j] = s[j];
            w[8 + j] = V{};
        }
        Pad<8>(w, kDigestBits);
        StartAll(s, kSha256Initial);
        LaneCompress(s, w);
        StoreDigests(s, digests);
    };
    ForAll(count, out, at, hash);
}

[[maybe_unused]] Sha256Backend LanesBackend(const char* name, bool available)
{
    return {.name = name,
            .available = available,
            .lanes = kLanes,
            .word_stride = kLanes,
            .lane_stride = 1,
            .transform = TransformPortable,
            .lanes_transform = LanesTransform,
            .digests = Digests,
            .outpoints = Outpoints,
            .double64 = Double64};
}

} // namespace

} // namespace ibd::sha256
