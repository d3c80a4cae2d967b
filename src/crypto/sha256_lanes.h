// SHA-256 of IBD_LANES messages side by side, one in each 32-bit element of a vector register.
// Included by the file of each vector instruction set, which first defines
//   IBD_LANES            4, 8 or 16
//   IBD_LANES_TARGET     the function attribute that enables the instructions
//   IBD_LANES_BSWAP(v)   each element from big-endian to native byte order
// Everything is in an unnamed namespace, so that no copy compiled for one instruction set can be
// linked into code for another. Vectors pass by reference only: their ABI depends on the target.
#include "crypto/sha256_internal.h"

#include <utility>

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
    for (size_t size = 1; size < kLanes; size *= 2) {
        V next[kLanes];
        for (size_t i = 0; i < kLanes / 2; ++i) {
            next[2 * i] = __builtin_shufflevector(rows[i], rows[i + kLanes / 2], IBD_LOW);
            next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + kLanes / 2], IBD_HIGH);
        }
        for (size_t i = 0; i < kLanes; ++i) rows[i] = next[i];
    }
}

/** Word j of every lane's block into w[j]. */
IBD_LANES_INLINE void LoadBlocks(V (&w)[16], const uint8_t* const* blocks)
{
    for (size_t base = 0; base < 16; base += kLanes) {
        V rows[kLanes];
        for (size_t i = 0; i < kLanes; ++i) std::memcpy(&rows[i], blocks[i] + 4 * base, sizeof(V));
        Transpose(rows);
        for (size_t i = 0; i < kLanes; ++i) w[base + i] = IBD_LANES_BSWAP(rows[i]);
    }
}

/** The states of all lanes as digests. */
IBD_LANES_INLINE void StoreDigests(const V (&s)[8], Hash32* out)
{
    uint32_t words[8][kLanes];
    for (size_t j = 0; j < 8; ++j) {
        const V swapped = IBD_LANES_BSWAP(s[j]);
        std::memcpy(words[j], &swapped, sizeof(V));
    }
    for (size_t i = 0; i < kLanes; ++i) {
        for (size_t j = 0; j < 8; ++j) std::memcpy(out[i].data() + 4 * j, &words[j][i], 4);
    }
}

IBD_LANES_TARGET void LanesTransform(Sha256State* states, const uint8_t* const* data, size_t blocks)
{
    const uint8_t* at[kLanes];
    uint32_t words[8][kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
        at[i] = data[i];
        for (size_t j = 0; j < 8; ++j) words[j][i] = states[i][j];
    }
    V s[8];
    std::memcpy(s, words, sizeof s);
    for (size_t n = 0; n < blocks; ++n) {
        V w[16];
        LoadBlocks(w, at);
        LaneCompress(s, w);
        for (const uint8_t*& p : at) p += 64;
    }
    std::memcpy(words, s, sizeof s);
    for (size_t i = 0; i < kLanes; ++i) {
        for (size_t j = 0; j < 8; ++j) states[i][j] = words[j][i];
    }
}

IBD_LANES_TARGET void Outpoints(const Sha256State& midstate, const uint8_t* messages, size_t stride,
                                size_t count, Hash32* out)
{
    uint8_t blocks[kLanes][64];
    const uint8_t* at[kLanes];
    for (size_t i = 0; i < kLanes; ++i) at[i] = blocks[i];
    while (count > 0) {
        const size_t n = count < kLanes ? count : kLanes;
        // Lanes without a message repeat the last one.
        for (size_t i = 0; i < kLanes; ++i) {
            PadOutpoint(messages + (i < n ? i : n - 1) * stride, blocks[i]);
        }
        V w[16];
        V s[8];
        LoadBlocks(w, at);
        for (size_t j = 0; j < 8; ++j) s[j] = V{} + midstate[j];
        LaneCompress(s, w);
        Hash32 digests[kLanes];
        StoreDigests(s, n == kLanes ? out : digests);
        if (n < kLanes) std::memcpy(out, digests, n * sizeof(Hash32));
        messages += n * stride;
        out += n;
        count -= n;
    }
}

IBD_LANES_TARGET void Double64(const uint8_t* messages, size_t count, Hash32* out)
{
    while (count > 0) {
        const size_t n = count < kLanes ? count : kLanes;
        const uint8_t* at[kLanes];
        for (size_t i = 0; i < kLanes; ++i) at[i] = messages + (i < n ? i : n - 1) * 64;
        V w[16];
        V s[8];
        LoadBlocks(w, at);
        for (size_t j = 0; j < 8; ++j) s[j] = V{} + kSha256Initial[j];
        LaneCompress(s, w);
        LaneCompressNodePadding(s);
        for (size_t j = 0; j < 8; ++j) {
            w[j] = s[j];
            w[8 + j] = V{};
            s[j] = V{} + kSha256Initial[j];
        }
        w[8] += 0x80000000;
        w[15] += kDigestBits;
        LaneCompress(s, w);
        Hash32 digests[kLanes];
        StoreDigests(s, n == kLanes ? out : digests);
        if (n < kLanes) std::memcpy(out, digests, n * sizeof(Hash32));
        messages += n * 64;
        out += n;
        count -= n;
    }
}

} // namespace

} // namespace ibd::sha256
