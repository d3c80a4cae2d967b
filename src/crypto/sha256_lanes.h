// SHA-256 of many messages in parallel, one in each 32-bit element of one or more vectors. Included
// by the file of each vector instruction set, which first defines
//   IBD_LANES            4, 8 or 16: elements of a vector
//   IBD_LANES_VECTORS    number of vectors at a time: rounds of one vector depend on each other,
//                        and with enough registers another vector fills the latency
//   IBD_LANES_TARGET     the function attribute that enables the instructions
//   IBD_LANES_BSWAP(v)   each element from big-endian to native byte order
// and, if there is one instruction for it,
//   IBD_LANES_LOAD(v, p, n) sets v to the n words at p, then zeros
// Everything is in an unnamed namespace, so that no copy compiled for one instruction set can be
// linked into code for another. Vectors are passed by reference only: their ABI depends on the
// target.
#include "crypto/sha256_internal.h"

#include <utility>

#ifndef IBD_LANES_LOAD
#define IBD_LANES_LOAD(v, p, n) LoadPart<n>(v, p)
#endif

// Arrays of vectors stay in registers only if the compiler knows every index; gcc does not unroll
// this far by itself.
#define IBD_LANES_UNROLL _Pragma("GCC unroll 16")

#define IBD_LANES_INLINE IBD_LANES_TARGET __attribute__((always_inline)) inline

namespace ibd::sha256 {

namespace {

constexpr size_t kWidth = IBD_LANES;
constexpr size_t kVectors = IBD_LANES_VECTORS;
constexpr size_t kLanes = kWidth * kVectors;
typedef uint32_t V __attribute__((vector_size(4 * IBD_LANES)));

/** States and blocks of N vectors of lanes, word by word. */
template <size_t N>
using States = V[N][8];
template <size_t N>
using Blocks = V[N][16];

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

template <size_t J, size_t N>
IBD_LANES_INLINE void FirstRound(States<N>& s, const Blocks<N>& w)
{
    IBD_LANES_UNROLL
    for (size_t n = 0; n < N; ++n) LaneRound<J>(s[n], w[n][J], kRound[J]);
}

template <size_t J, size_t N>
IBD_LANES_INLINE void NextRound(States<N>& s, Blocks<N>& w, const uint32_t* k)
{
    IBD_LANES_UNROLL
    for (size_t n = 0; n < N; ++n) {
        LaneExpand<J>(w[n]);
        LaneRound<J>(s[n], w[n][J], k[J]);
    }
}

template <size_t J, size_t N>
IBD_LANES_INLINE void ConstantRound(States<N>& s, const uint32_t* kw)
{
    IBD_LANES_UNROLL
    for (size_t n = 0; n < N; ++n) LaneRound<J>(s[n], V{}, kw[J]);
}

template <size_t N, size_t... J>
IBD_LANES_INLINE void FirstRounds(States<N>& s, const Blocks<N>& w, std::index_sequence<J...>)
{
    (FirstRound<J>(s, w), ...);
}

template <size_t N, size_t... J>
IBD_LANES_INLINE void NextRounds(States<N>& s, Blocks<N>& w, const uint32_t* k,
                                 std::index_sequence<J...>)
{
    (NextRound<J>(s, w, k), ...);
}

template <size_t N, size_t... J>
IBD_LANES_INLINE void ConstantRounds(States<N>& s, const uint32_t* kw, std::index_sequence<J...>)
{
    (ConstantRound<J>(s, kw), ...);
}

template <size_t N>
IBD_LANES_INLINE void CopyStates(States<N>& to, const States<N>& from)
{
    IBD_LANES_UNROLL
    for (size_t n = 0; n < N; ++n) {
        IBD_LANES_UNROLL
        for (size_t j = 0; j < 8; ++j) to[n][j] = from[n][j];
    }
}

template <size_t N>
IBD_LANES_INLINE void AddStates(States<N>& to, const States<N>& from)
{
    IBD_LANES_UNROLL
    for (size_t n = 0; n < N; ++n) {
        IBD_LANES_UNROLL
        for (size_t j = 0; j < 8; ++j) to[n][j] += from[n][j];
    }
}

/** s = s + rounds(s, w); destroys w. */
template <size_t N>
IBD_LANES_INLINE void LaneCompress(States<N>& s, Blocks<N>& w)
{
    constexpr auto kSixteen = std::make_index_sequence<16>{};
    States<N> v;
    CopyStates<N>(v, s);
    FirstRounds<N>(v, w, kSixteen);
    for (size_t base = 16; base < 64; base += 16) NextRounds<N>(v, w, &kRound[base], kSixteen);
    AddStates<N>(s, v);
}

/** Like LaneCompress, for the padding block of a 64-byte message. */
template <size_t N>
IBD_LANES_INLINE void LaneCompressNodePadding(States<N>& s)
{
    constexpr auto kSixteen = std::make_index_sequence<16>{};
    States<N> v;
    CopyStates<N>(v, s);
    for (size_t base = 0; base < 64; base += 16) {
        ConstantRounds<N>(v, &kNodePaddingRounds[base], kSixteen);
    }
    AddStates<N>(s, v);
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
 *  row number to the bottom of the word address; after log2(width) times rows are columns. */
IBD_LANES_INLINE void Transpose(V (&rows)[kWidth])
{
    IBD_LANES_UNROLL
    for (size_t size = 1; size < kWidth; size *= 2) {
        V next[kWidth];
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kWidth / 2; ++i) {
            next[2 * i] = __builtin_shufflevector(rows[i], rows[i + kWidth / 2], IBD_LOW);
            next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + kWidth / 2], IBD_HIGH);
        }
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kWidth; ++i) rows[i] = next[i];
    }
}

template <size_t Words>
IBD_LANES_INLINE void LoadPart(V& v, const uint8_t* p)
{
    v = V{};
    std::memcpy(&v, p, 4 * Words);
}

/** Word j of every lane's message goes to w[j], for the first `Words` words; the others become
 *  zero, and their bytes are not read. */
template <size_t Words>
IBD_LANES_INLINE void LoadWords(V (&w)[16], const uint8_t* const* messages)
{
    IBD_LANES_UNROLL
    for (size_t j = Words; j < 16; ++j) w[j] = V{};
    constexpr size_t kFull = Words / kWidth * kWidth;
    IBD_LANES_UNROLL
    for (size_t base = 0; base < kFull; base += kWidth) {
        V rows[kWidth];
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kWidth; ++i) {
            std::memcpy(&rows[i], messages[i] + 4 * base, sizeof(V));
        }
        Transpose(rows);
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kWidth; ++i) w[base + i] = IBD_LANES_BSWAP(rows[i]);
    }
    if constexpr (kFull < Words) {
        V rows[kWidth];
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kWidth; ++i) {
            IBD_LANES_LOAD(rows[i], messages[i] + 4 * kFull, Words - kFull);
        }
        Transpose(rows);
        IBD_LANES_UNROLL
        for (size_t j = kFull; j < Words; ++j) w[j] = IBD_LANES_BSWAP(rows[j - kFull]);
    }
}

template <size_t Words, size_t N>
IBD_LANES_INLINE void LoadAll(Blocks<N>& w, const uint8_t* const* messages)
{
    IBD_LANES_UNROLL
    for (size_t n = 0; n < N; ++n) LoadWords<Words>(w[n], messages + n * kWidth);
}

/** The padding of messages that end within this block, after `Words` words. */
template <size_t Words, size_t N>
IBD_LANES_INLINE void PadAll(Blocks<N>& w, uint32_t bits)
{
    IBD_LANES_UNROLL
    for (size_t n = 0; n < N; ++n) {
        w[n][Words] += 0x80000000;
        w[n][15] += bits;
    }
}

template <size_t N>
IBD_LANES_INLINE void StartAll(States<N>& s, const Sha256State& state)
{
    IBD_LANES_UNROLL
    for (size_t n = 0; n < N; ++n) {
        IBD_LANES_UNROLL
        for (size_t j = 0; j < 8; ++j) s[n][j] = V{} + state[j];
    }
}

/** Stores the states of a vector's lanes as adjacent digests. */
IBD_LANES_INLINE void StoreDigests(const V (&s)[8], Hash32* out)
{
    constexpr size_t kWords = kWidth < 8 ? kWidth : 8; // words of a digest in one row
    IBD_LANES_UNROLL
    for (size_t base = 0; base < 8; base += kWords) {
        V rows[kWidth]{};
        IBD_LANES_UNROLL
        for (size_t j = 0; j < kWords; ++j) rows[j] = IBD_LANES_BSWAP(s[base + j]);
        Transpose(rows);
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kWidth; ++i) {
            std::memcpy(out[i].data() + 4 * base, &rows[i], 4 * kWords);
        }
    }
}

template <size_t N>
IBD_LANES_INLINE void StoreAll(const States<N>& s, Hash32* out)
{
    IBD_LANES_UNROLL
    for (size_t n = 0; n < N; ++n) StoreDigests(s[n], out + n * kWidth);
}

/** All ones in the lanes with a set bit. */
IBD_LANES_INLINE void MaskOf(V& mask, uint32_t bits)
{
    V number{};
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kWidth; ++i) number[i] = static_cast<uint32_t>(i);
    mask = V{} - (((V{} + bits) >> number) & 1);
}

/** Word j of all lanes is contiguous, at j * kLanes. */
IBD_LANES_TARGET void LanesTransform(uint32_t* states, uint32_t fresh, const uint8_t* const* data,
                                     size_t blocks)
{
    const uint8_t* at[kLanes];
    std::memcpy(at, data, sizeof at);
    States<kVectors> s;
    IBD_LANES_UNROLL
    for (size_t n = 0; n < kVectors; ++n) {
        V started;
        MaskOf(started, fresh >> n * kWidth);
        IBD_LANES_UNROLL
        for (size_t j = 0; j < 8; ++j) {
            std::memcpy(&s[n][j], states + j * kLanes + n * kWidth, sizeof(V));
            s[n][j] = (s[n][j] & ~started) | (started & kSha256Initial[j]);
        }
    }
    for (size_t block = 0; block < blocks; ++block) {
        Blocks<kVectors> w;
        LoadAll<16, kVectors>(w, at);
        LaneCompress<kVectors>(s, w);
        for (const uint8_t*& p : at) p += 64;
    }
    IBD_LANES_UNROLL
    for (size_t n = 0; n < kVectors; ++n) {
        IBD_LANES_UNROLL
        for (size_t j = 0; j < 8; ++j) {
            std::memcpy(states + j * kLanes + n * kWidth, &s[n][j], sizeof(V));
        }
    }
}

/** Hashes up to N vectors of messages. Lanes without a message repeat the last one. */
template <size_t N, typename Hasher>
IBD_LANES_INLINE void HashSome(const Hasher& hasher, const uint8_t* messages, size_t stride,
                               size_t count, Hash32* out)
{
    constexpr size_t kMost = N * kWidth;
    const uint8_t* at[kMost];
    for (size_t i = 0; i < kMost; ++i) at[i] = messages + (i < count ? i : count - 1) * stride;
    States<N> s;
    hasher.template Hash<N>(s, at);
    Hash32 digests[kMost];
    StoreAll<N>(s, count < kMost ? digests : out);
    if (count < kMost) std::memcpy(out, digests, count * sizeof(Hash32));
}

/** Digests of `count` messages; `out` may be their start, if `stride` is at least a digest. */
template <typename Hasher>
IBD_LANES_INLINE void HashAll(const Hasher& hasher, const uint8_t* messages, size_t stride,
                              size_t count, Hash32* out)
{
    size_t done = 0;
    for (; count - done > kWidth; done += count - done < kLanes ? count - done : kLanes) {
        HashSome<kVectors>(hasher, messages + done * stride, stride, count - done, out + done);
    }
    if (done == count) return;
    HashSome<1>(hasher, messages + done * stride, stride, count - done, out + done);
}

struct OutpointHasher {
    const Sha256State& midstate;

    template <size_t N>
    IBD_LANES_INLINE void Hash(States<N>& s, const uint8_t* const* messages) const
    {
        Blocks<N> w;
        LoadAll<9, N>(w, messages);
        PadAll<9, N>(w, kOutpointBits);
        StartAll<N>(s, midstate);
        LaneCompress<N>(s, w);
    }
};

struct DigestHasher {
    template <size_t N>
    IBD_LANES_INLINE void Hash(States<N>& s, const uint8_t* const* messages) const
    {
        Blocks<N> w;
        LoadAll<8, N>(w, messages);
        PadAll<8, N>(w, kDigestBits);
        StartAll<N>(s, kSha256Initial);
        LaneCompress<N>(s, w);
    }
};

struct NodeHasher {
    template <size_t N>
    IBD_LANES_INLINE void Hash(States<N>& s, const uint8_t* const* messages) const
    {
        Blocks<N> w;
        LoadAll<16, N>(w, messages);
        StartAll<N>(s, kSha256Initial);
        LaneCompress<N>(s, w);
        LaneCompressNodePadding<N>(s);
        IBD_LANES_UNROLL
        for (size_t n = 0; n < N; ++n) {
            IBD_LANES_UNROLL
            for (size_t j = 0; j < 8; ++j) {
                w[n][j] = s[n][j];
                w[n][8 + j] = V{};
            }
        }
        PadAll<8, N>(w, kDigestBits);
        StartAll<N>(s, kSha256Initial);
        LaneCompress<N>(s, w);
    }
};

IBD_LANES_TARGET void Outpoints(const Sha256State& midstate, const uint8_t* messages, size_t stride,
                                size_t count, Hash32* out)
{
    HashAll(OutpointHasher{midstate}, messages, stride, count, out);
}

IBD_LANES_TARGET void Digests(Hash32* digests, size_t count)
{
    const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(digests);
    HashAll(DigestHasher{}, bytes, sizeof(Hash32), count, digests);
}

IBD_LANES_TARGET void Double64(const uint8_t* messages, size_t count, Hash32* out)
{
    HashAll(NodeHasher{}, messages, 64, count, out);
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
