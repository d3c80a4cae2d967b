// The products of muhash_products.h in eight vector lanes (lanes_vector.h): each lane multiplies
// elements of its own.
//
// Algorithm: schoolbook multiplication in radix 2^52 with 60 limbs. 2^3072 = k mod p, so the bits
// of a product from 3,072 on times k are added to the others, twice.
//
// Bounds. A number is below 2^3072 + 2^44, with limbs below 2^52, so limb[59] is at most 16. The
// product of two is below 2^6145; its bits from 3,072 on, below 2^3073, times k are below 2^3094,
// which 60 limbs hold. The second time these bits are below 2^23, and their product with k below
// 2^44, so the sum is a number again.
#pragma once

#include "crypto/chacha20_blocks.h"
#include "crypto/chacha20_rounds.h"
#include "crypto/lanes_vector.h"
#include "crypto/muhash_products.h"
#include "util/endian.h"

#include <algorithm>
#include <cstring>

namespace ibd::lanes {

namespace {

static_assert(kLanes == kMuHashLanes);
constexpr size_t kLongLimbs = 60;
constexpr size_t kRows = 12;         //!< limbs of a factor in registers at a time
constexpr uint64_t kTopLimb = 16;    //!< the largest one of a number
constexpr size_t kElementBlocks = 6; //!< of ChaCha20
constexpr size_t kElementWords = 48; //!< of 64 bits

/** One number in each lane. */
struct alignas(64) LongLanes {
    Vector limb[kLongLimbs];
};

/** A product before its reduction. */
struct alignas(64) LongProduct {
    Vector limb[2 * kLongLimbs];
};

IBD_LANES_INLINE void CheckNumber([[maybe_unused]] const LongLanes& a)
{
    for (size_t i = 0; i + 1 < kLongLimbs; ++i) IBD_AT_MOST(a.limb[i], kMask52);
    IBD_AT_MOST(a.limb[kLongLimbs - 1], kTopLimb);
}

/** out[0 .. 59 + kRows] += a[0 .. kRows - 1] * b; the last kRows of out may be uninitialised. A
 *  limb of out gets at most two halves of products from each of its 60 rows, each below 2^52. */
IBD_LANES_INLINE void MultiplyRows(const Vector* a, const Vector* b, Vector* out)
{
    Vector row[kRows], sum[kRows + 1] = {};
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kRows; ++i) row[i] = a[i];
    for (size_t j = 0; j < kLongLimbs; ++j) {
        const Vector factor = b[j];
        sum[0] += out[j];
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kRows; ++i) sum[i] = IBD_MUL_LOW(sum[i], row[i], factor);
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kRows; ++i) sum[i + 1] = IBD_MUL_HIGH(sum[i + 1], row[i], factor);
        IBD_AT_MOST(sum[0], Most(52, 2 * kLongLimbs));
        out[j] = sum[0];
        IBD_LANES_UNROLL
        for (size_t i = 0; i < kRows; ++i) sum[i] = sum[i + 1];
        sum[kRows] = Vector{};
    }
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kRows; ++i) out[kLongLimbs + i] = sum[i];
}

/** Carries the bits above 52 upwards. Limbs below 2^63; nothing is left above the last one. */
template <size_t kCount>
IBD_LANES_INLINE void CarryLong(Vector* limb)
{
    Vector carry{};
    for (size_t i = 0; i < kCount; ++i) {
        carry += limb[i];
        limb[i] = carry & kMask52;
        carry >>= 52;
    }
    IBD_AT_MOST(carry, 0);
}

/** Folds the bits of a number from 3,072 on, which are below 2^30. */
IBD_LANES_INLINE void FoldTop(LongLanes& a)
{
    Vector folded, &top = a.limb[kLongLimbs - 1];
    Broadcast(folded, kNum3072Excess);
    const Vector above = top >> 4;
    IBD_AT_MOST(above, Most(30)); // its product is below 2^51, so the low 52 bits are all of it
    top &= 15;
    a.limb[0] = IBD_MUL_LOW(a.limb[0], above, folded);
    CarryLong<kLongLimbs>(a.limb);
    CheckNumber(a);
}

IBD_LANES_INLINE void ReduceLong(LongLanes& out, LongProduct& a)
{
    Vector folded;
    Broadcast(folded, kNum3072Excess);
    CarryLong<2 * kLongLimbs>(a.limb);
    Vector high{};
    for (size_t i = 0; i < kLongLimbs; ++i) { // the bits of a from 3,072 on, limb by limb
        const Vector low = i + 1 < kLongLimbs ? a.limb[i] : a.limb[i] & 15;
        const Vector above =
            (a.limb[kLongLimbs - 1 + i] >> 4 | a.limb[kLongLimbs + i] << 48) & kMask52;
        out.limb[i] = IBD_MUL_LOW(low + high, above, folded);
        high = IBD_MUL_HIGH(Vector{}, above, folded);
    }
    IBD_AT_MOST(high, 0);
    CarryLong<kLongLimbs>(out.limb);
    FoldTop(out);
}

/** a = a * b. */
IBD_LANES_TARGET void MultiplyLong(LongLanes& a, const LongLanes& b)
{
    CheckNumber(a);
    CheckNumber(b);
    LongProduct product;
    for (size_t i = 0; i < kLongLimbs; ++i) product.limb[i] = Vector{};
    for (size_t i = 0; i < kLongLimbs; i += kRows) {
        MultiplyRows(a.limb + i, b.limb, product.limb + i);
    }
    ReduceLong(a, product);
}

/** One word of two ChaCha20 blocks of each lane: the first kLanes are of one block, the others of
 *  the next. */
typedef uint32_t TwoBlocksWords __attribute__((vector_size(8 * kLanes)));
typedef uint32_t BlockWords __attribute__((vector_size(4 * kLanes)));

/** The blocks `counter` and `counter` + 1 of the keystreams, as words of 64 bits in 16 vectors. */
IBD_LANES_TARGET void KeystreamBlocks(const TwoBlocksWords (&key)[8], uint32_t counter, Vector* out)
{
    TwoBlocksWords start[16] = {};
    for (size_t i = 0; i < 4; ++i) start[i] += chacha20::kConstants[i];
    for (size_t i = 0; i < 8; ++i) start[4 + i] = key[i];
    for (size_t lane = 0; lane < 2 * kLanes; ++lane) {
        start[12][lane] = counter + static_cast<uint32_t>(lane / kLanes);
    }
    TwoBlocksWords x[16];
    chacha20::Rounds(start, x);
    for (size_t i = 0; i < 16; ++i) {
        const TwoBlocksWords& low = x[2 * (i % 8)];
        const TwoBlocksWords& high = x[2 * (i % 8) + 1];
        BlockWords halves[2];
        std::memcpy(&halves[0], reinterpret_cast<const uint8_t*>(&low) + i / 8 * sizeof(BlockWords),
                    sizeof(BlockWords));
        std::memcpy(&halves[1],
                    reinterpret_cast<const uint8_t*>(&high) + i / 8 * sizeof(BlockWords),
                    sizeof(BlockWords));
        out[i] = __builtin_convertvector(halves[0], Vector) |
                 __builtin_convertvector(halves[1], Vector) << 32;
    }
}

/** The limb of a number in words of 64 bits: one in a word, or one in each lane of a vector. */
template <typename Word>
IBD_LANES_INLINE void SetLimb(Word& limb, const Word* words, size_t i)
{
    const size_t from = 52 * i / 64, shift = 52 * i % 64;
    limb = words[from] >> shift;
    if (shift > 12 && i + 1 < kLongLimbs) limb |= words[from + 1] << (64 - shift);
    limb &= kMask52;
}

/** The element of each key; one in the lanes beyond the last key. */
IBD_LANES_TARGET void Elements(std::span<const Hash32> keys, LongLanes& out)
{
    TwoBlocksWords key[8] = {};
    for (size_t lane = 0; lane < 2 * kLanes; ++lane) {
        if (lane % kLanes >= keys.size()) continue;
        for (size_t i = 0; i < 8; ++i) key[i][lane] = ReadLE32(&keys[lane % kLanes][4 * i]);
    }
    Vector word[kElementWords];
    for (uint32_t block = 0; block < kElementBlocks; block += 2) {
        KeystreamBlocks(key, block, word + 8 * block);
    }
    const auto used = static_cast<Mask>((1u << keys.size()) - 1);
    for (size_t i = 0; i < kLongLimbs; ++i) {
        Vector limb;
        SetLimb(limb, word, i);
        out.limb[i] = IBD_BLEND(used, limb, (Vector{} + (i == 0 ? 1 : 0)));
    }
    CheckNumber(out);
}

/** The number of a lane; the bits from 3,072 on must be zero. */
inline Num3072Limbs NumberOfLane(const LongLanes& a, size_t lane)
{
    Num3072Limbs out{};
    for (size_t i = 0; i < kLongLimbs; ++i) {
        const size_t to = 52 * i / 64, shift = 52 * i % 64;
        out[to] |= a.limb[i][lane] << shift;
        if (shift > 12) out[to + 1] |= a.limb[i][lane] >> (64 - shift);
    }
    return out;
}

/** See MuHashProducts. */
IBD_LANES_TARGET void MultiplyElements(std::span<const Hash32> keys, MuHashFactors& factors)
{
    LongLanes product, element;
    Elements(keys.first(std::min(keys.size(), kLanes)), product);
    for (size_t i = kLanes; i < keys.size(); i += kLanes) {
        Elements(keys.subspan(i, std::min(keys.size() - i, kLanes)), element);
        MultiplyLong(product, element);
    }
    FoldTop(product); // of a number above 2^3072 less than 2^45 is left, so now all are below it
    for (size_t lane = 0; lane < kLanes; ++lane) factors[lane] = NumberOfLane(product, lane);
}

} // namespace

} // namespace ibd::lanes
