// The field of secp256k1, p = 2^256 - 2^32 - 977, in vector lanes (lanes_vector.h). Included by the
// file of each instruction set, which first defines the macros of that header.
//
// Algorithm: schoolbook multiplication in radix 2^52 with five limbs, value = sum of limb[i] *
// 2^(52 i). As 2^260 = 2^4 (2^32 + 977) mod p, the upper five limbs of a product times that number
// are added to the lower five; then the bits from 256 on are folded likewise. (The radix is that of
// Gueron and Krasnov, "Accelerating Big Integer Arithmetic Using Intel IFMA Extensions", 2016.)
//
// Bounds. Each function states what its operands may be:
//   reduced  limb[0..3] < 2^52, limb[4] < 2^49: in and out of Multiply, Square and Carry. The value
//            is below 2^257, so it is one of at most three representatives mod p.
//   loose    limb[0..4] < 2^58: sums and differences. Carry makes it reduced, or a multiplication
//            adds it before its own last carry, which saves one carry.
// The proof is in the functions: each bound follows from the step before and from the bounds of the
// operands.
#pragma once

#include "crypto/lanes_vector.h"

namespace ibd::lanes {

namespace {

constexpr size_t kLimbs = 5;

/** One field element in each lane. */
struct alignas(64) Field {
    Vector limb[kLimbs];
};

/** A product before its reduction: value = sum of limb[i] * 2^(52 i). */
struct alignas(64) Wide {
    Vector limb[2 * kLimbs];
};

constexpr uint64_t kMask48 = (uint64_t{1} << 48) - 1;
constexpr uint64_t k2To256 = 0x1000003D1;  //!< 2^256 mod p
constexpr uint64_t k2To260 = 0x1000003D10; //!< 2^260 mod p
constexpr uint64_t kPrime[kLimbs] = {0xFFFFEFFFFFC2F, kMask52, kMask52, kMask52, kMask48};

constexpr Mask Not(Mask mask) { return static_cast<Mask>(~mask & kAllLanes); }

IBD_LANES_INLINE void CheckReduced([[maybe_unused]] const Field& a)
{
    for (size_t i = 0; i + 1 < kLimbs; ++i) IBD_AT_MOST(a.limb[i], kMask52);
    IBD_AT_MOST(a.limb[4], Most(49));
}

IBD_LANES_INLINE void CheckLoose([[maybe_unused]] const Field& a)
{
    for (size_t i = 0; i < kLimbs; ++i) IBD_AT_MOST(a.limb[i], Most(58));
}

/** out = a + b; loose if the sum of the bounds is. */
IBD_LANES_INLINE void Add(Field& out, const Field& a, const Field& b)
{
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLimbs; ++i) out.limb[i] = a.limb[i] + b.limb[i];
    CheckLoose(out);
}

/** out = kTimes * (4p - a), for a reduced a and kTimes at most 8: congruent to -kTimes * a. Each
 *  limb of 4p, written without borrowing, is larger than a's: 2^54 - 2^34 - 3908, 2^54 - 4 and
 *  2^50 - 4. */
template <uint64_t kTimes = 1>
IBD_LANES_INLINE void Negate(Field& out, const Field& a)
{
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLimbs; ++i) {
        IBD_AT_MOST(a.limb[i], 4 * kPrime[i]);
        out.limb[i] = (4 * kPrime[i] - a.limb[i]) * kTimes;
        IBD_AT_MOST(out.limb[i], Most(54, kTimes));
    }
}

/** Carries the bits above 52 upwards, from limb 0 to limb 4. */
IBD_LANES_INLINE void CarryUp(Field& a)
{
    IBD_LANES_UNROLL
    for (size_t i = 0; i + 1 < kLimbs; ++i) {
        a.limb[i + 1] += a.limb[i] >> 52;
        a.limb[i] &= kMask52;
    }
}

/** Makes a loose element reduced: the bits from 256 on are multiplied by 2^256 mod p and added. */
IBD_LANES_INLINE void Carry(Field& a)
{
    Vector folded;
    Broadcast(folded, k2To256);
    CheckLoose(a);
    const Vector above = a.limb[4] >> 48;
    IBD_AT_MOST(above, Most(10)); // its product is below 2^43, so the low 52 bits are all of it
    a.limb[4] &= kMask48;
    a.limb[0] = IBD_MUL_LOW(a.limb[0], above, folded);
    IBD_AT_MOST(a.limb[0], Most(58) + Most(43));
    CarryUp(a); // each carry is at most 2^6
    IBD_AT_MOST(a.limb[4], kMask48 + 64);
    CheckReduced(a);
}

/** out = a - b mod p, for reduced elements; reduced. */
IBD_LANES_INLINE void Subtract(Field& out, const Field& a, const Field& b)
{
    Field negated;
    Negate(negated, b);
    Add(out, a, negated);
    Carry(out);
}

/** The bounds of a product: limb i is a sum of low halves of limb products with indices of sum i,
 *  and high halves of those with sum i - 1: at most nine, each below 2^52. Limb 9 is the high half
 *  of one product of limbs below 2^49. */
IBD_LANES_INLINE void CheckWide([[maybe_unused]] const Wide& a)
{
    for (size_t i = 0; i + 1 < 2 * kLimbs; ++i) IBD_AT_MOST(a.limb[i], Most(52, 9));
    IBD_AT_MOST(a.limb[9], Most(46));
}

/** All limb products of two reduced elements. Low and high halves are summed separately: a single
 *  sum would be a chain of dependent multiplications. */
IBD_LANES_INLINE void Product(Wide& out, const Field& a, const Field& b)
{
    Vector low[2 * kLimbs] = {}, high[2 * kLimbs] = {};
    CheckReduced(a);
    CheckReduced(b);
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLimbs; ++i) {
        IBD_LANES_UNROLL
        for (size_t j = 0; j < kLimbs; ++j) {
            low[i + j] = IBD_MUL_LOW(low[i + j], a.limb[i], b.limb[j]);
            high[i + j + 1] = IBD_MUL_HIGH(high[i + j + 1], a.limb[i], b.limb[j]);
        }
    }
    IBD_LANES_UNROLL
    for (size_t i = 0; i < 2 * kLimbs; ++i) out.limb[i] = low[i] + high[i];
    CheckWide(out);
}

/** Product(out, a, a) with fewer multiplications: products of unequal limbs count twice. */
IBD_LANES_INLINE void SquareProduct(Wide& out, const Field& a)
{
    Vector low[2 * kLimbs] = {}, high[2 * kLimbs] = {};
    CheckReduced(a);
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLimbs; ++i) {
        IBD_LANES_UNROLL
        for (size_t j = i + 1; j < kLimbs; ++j) {
            low[i + j] = IBD_MUL_LOW(low[i + j], a.limb[i], a.limb[j]);
            high[i + j + 1] = IBD_MUL_HIGH(high[i + j + 1], a.limb[i], a.limb[j]);
        }
    }
    IBD_LANES_UNROLL
    for (size_t i = 0; i < 2 * kLimbs; ++i) out.limb[i] = (low[i] + high[i]) << 1;
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLimbs; ++i) {
        out.limb[2 * i] = IBD_MUL_LOW(out.limb[2 * i], a.limb[i], a.limb[i]);
        out.limb[2 * i + 1] = IBD_MUL_HIGH(out.limb[2 * i + 1], a.limb[i], a.limb[i]);
    }
    CheckWide(out);
}

/** out = kTimes * wide + addend mod p, reduced; kTimes at most 4, and 1 with an addend, which is
 *  loose. */
template <uint64_t kTimes = 1>
IBD_LANES_INLINE void Reduce(Field& out, Wide& wide, const Field* addend)
{
    static_assert(kTimes <= 4);
    Vector fold;
    Broadcast(fold, k2To260);
    Vector(&r)[2 * kLimbs] = wide.limb;
    IBD_LANES_UNROLL
    for (size_t i = kLimbs; i + 1 < 2 * kLimbs; ++i) {
        r[i + 1] += r[i] >> 52; // at most 9
        r[i] &= kMask52;
    }
    IBD_AT_MOST(r[9], Most(46)); // as the value is below 2^514
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLimbs; ++i) r[i] = IBD_MUL_LOW(r[i], r[i + kLimbs], fold);
    IBD_LANES_UNROLL
    for (size_t i = 1; i < kLimbs; ++i) r[i] = IBD_MUL_HIGH(r[i], r[i + kLimbs - 1], fold);
    Vector above = {}; // at 2^260
    above = IBD_MUL_HIGH(above, r[9], fold);
    IBD_AT_MOST(above, Most(31)); // fold < 2^37
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLimbs; ++i) {
        IBD_AT_MOST(r[i], Most(52, 10) + Most(37));
        out.limb[i] = kTimes == 1 ? r[i] : r[i] * kTimes;
        if (addend != nullptr) out.limb[i] += addend->limb[i];
        IBD_AT_MOST(out.limb[i], Most(59)); // 40 * 2^52 + 2^39, or 10 * 2^52 + 2^37 + 2^58
    }
    Broadcast(fold, k2To256);
    above = (out.limb[4] >> 48) + (above << 4) * kTimes; // at 2^256
    IBD_AT_MOST(above, Most(38)); // 2^11 + 2^37; fold < 2^33, so the product is below 2^71
    out.limb[4] &= kMask48;
    out.limb[0] = IBD_MUL_LOW(out.limb[0], above, fold);
    out.limb[1] = IBD_MUL_HIGH(out.limb[1], above, fold);
    IBD_AT_MOST(out.limb[0], Most(59) + Most(52));
    IBD_AT_MOST(out.limb[1], Most(59) + Most(19));
    CarryUp(out); // each carry is at most 2^7 + 1
    IBD_AT_MOST(out.limb[4], kMask48 + 129);
    CheckReduced(out);
}

/** out = kTimes * a * b mod p, reduced. */
template <uint64_t kTimes = 1>
IBD_LANES_INLINE void Multiply(Field& out, const Field& a, const Field& b)
{
    Wide wide;
    Product(wide, a, b);
    Reduce<kTimes>(out, wide, nullptr);
}

/** out = a * b + addend mod p, reduced; the addend is loose. */
IBD_LANES_INLINE void MultiplyAdd(Field& out, const Field& a, const Field& b, const Field& addend)
{
    Wide wide;
    Product(wide, a, b);
    Reduce(out, wide, &addend);
}

/** out = kTimes * a^2 mod p, reduced. */
template <uint64_t kTimes = 1>
IBD_LANES_INLINE void Square(Field& out, const Field& a)
{
    Wide wide;
    SquareProduct(wide, a);
    Reduce<kTimes>(out, wide, nullptr);
}

/** out = a^2 + addend mod p, reduced; the addend is loose. */
IBD_LANES_INLINE void SquareAdd(Field& out, const Field& a, const Field& addend)
{
    Wide wide;
    SquareProduct(wide, a);
    Reduce(out, wide, &addend);
}

/** out = a in the lanes of the mask, else b. */
IBD_LANES_INLINE void Select(Field& out, Mask mask, const Field& a, const Field& b)
{
    IBD_LANES_UNROLL
    for (size_t i = 0; i < kLimbs; ++i) out.limb[i] = IBD_BLEND(mask, a.limb[i], b.limb[i]);
}

/** Replaces a reduced element by its representative below p. */
IBD_LANES_INLINE void Normalize(Field& a)
{
    CheckReduced(a);
    Carry(a); // the value is below 2^256 + 2^33
    Field less = a;
    less.limb[0] += k2To256; // a - p + 2^256
    CarryUp(less);
    Vector above = less.limb[4] >> 48, zero{};
    less.limb[4] &= kMask48;
    Select(a, IBD_EQUAL(above, zero), a, less);
}

/** The lanes in which a reduced element is zero mod p. */
IBD_LANES_INLINE Mask ZeroLanes(const Field& a)
{
    Field normal = a;
    Normalize(normal);
    const Vector zero{};
    Vector all = normal.limb[0];
    IBD_LANES_UNROLL
    for (size_t i = 1; i < kLimbs; ++i) all |= normal.limb[i];
    return IBD_EQUAL(all, zero);
}

/** The lanes in which a reduced element, taken below p, is odd. */
IBD_LANES_INLINE Mask OddLanes(const Field& a)
{
    Field normal = a;
    Normalize(normal);
    Vector one;
    Broadcast(one, 1);
    const Vector lowest = normal.limb[0] & one;
    return IBD_EQUAL(lowest, one);
}

/** Raises kCount elements to the power of 2^times in parallel: squares of one element depend on
 *  each other, and other elements fill the latency. */
template <size_t kCount>
IBD_LANES_INLINE void SquareTimes(Field (&a)[kCount], size_t times)
{
    for (size_t i = 0; i < times; ++i) {
        IBD_LANES_UNROLL
        for (size_t k = 0; k < kCount; ++k) Square(a[k], a[k]);
    }
}

template <size_t kCount>
IBD_LANES_INLINE void MultiplyAll(Field (&a)[kCount], const Field (&b)[kCount])
{
    IBD_LANES_UNROLL
    for (size_t k = 0; k < kCount; ++k) Multiply(a[k], a[k], b[k]);
}

template <size_t kCount>
IBD_LANES_INLINE void Copy(Field (&to)[kCount], const Field (&from)[kCount])
{
    for (size_t k = 0; k < kCount; ++k) to[k] = from[k];
}

/** Powers whose exponents are runs of ones, the first bits of p - 2 and (p + 1) / 4. */
template <size_t kCount>
struct RunsOfOnes {
    Field two[kCount];            //!< a^(2^2 - 1)
    Field twenty_two[kCount];     //!< a^(2^22 - 1)
    Field two_hundred_23[kCount]; //!< a^(2^223 - 1)
};

/** to = a^(2^(x + y) - 1), from `high` = a^(2^x - 1) and `low` = a^(2^y - 1). */
template <size_t kCount>
IBD_LANES_TARGET __attribute__((noinline)) void
Join(Field (&to)[kCount], const Field (&high)[kCount], const Field (&low)[kCount], size_t low_bits)
{
    Field power[kCount];
    Copy(power, high);
    SquareTimes(power, low_bits);
    MultiplyAll(power, low);
    Copy(to, power);
}

template <size_t kCount>
IBD_LANES_TARGET void MakeRunsOfOnes(RunsOfOnes<kCount>& out, const Field (&a)[kCount])
{
    Field three[kCount], eleven[kCount], forty_four[kCount], eighty_eight[kCount], work[kCount];
    Join(out.two, a, a, 1);
    Join(three, out.two, a, 1);
    Join(work, three, three, 3);                          // 6
    Join(work, work, three, 3);                           // 9
    Join(eleven, work, out.two, 2);                       // 11
    Join(out.twenty_two, eleven, eleven, 11);             // 22
    Join(forty_four, out.twenty_two, out.twenty_two, 22); // 44
    Join(eighty_eight, forty_four, forty_four, 44);       // 88
    Join(work, eighty_eight, eighty_eight, 88);           // 176
    Join(work, work, forty_four, 44);                     // 220
    Join(out.two_hundred_23, work, three, 3);             // 223
}

/** a = a^((p + 1) / 4): the square root if one exists, as p = 3 mod 4. The exponent is 223 ones, a
 *  zero, 22 ones, four zeros, two ones, two zeros. */
template <size_t kCount>
IBD_LANES_TARGET void SquareRoot(Field (&a)[kCount])
{
    RunsOfOnes<kCount> ones;
    MakeRunsOfOnes(ones, a);
    Join(a, ones.two_hundred_23, ones.twenty_two, 23);
    Join(a, a, ones.two, 6);
    SquareTimes(a, 2);
}

/** a = a^(p - 2): the inverse; zero for zero. The exponent is 223 ones, a zero, 22 ones, four
 *  zeros, 101101. */
template <size_t kCount>
IBD_LANES_TARGET void Invert(Field (&a)[kCount])
{
    RunsOfOnes<kCount> ones;
    Field work[kCount];
    MakeRunsOfOnes(ones, a);
    Join(work, ones.two_hundred_23, ones.twenty_two, 23);
    Join(work, work, a, 5);
    Join(work, work, ones.two, 3);
    Join(a, work, a, 2);
}

} // namespace

} // namespace ibd::lanes
