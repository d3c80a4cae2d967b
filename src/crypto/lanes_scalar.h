// Numbers modulo n, the order of secp256k1's group, one at a time, and their digits for multiplying
// points in lanes. For public data only: not constant-time.
//
// Algorithm: schoolbook multiplication in radix 2^64. The part above 2^256 times 2^256 - n, a
// number of 129 bits, is added to the lower part, four times. Inverses by Fermat's theorem, with
// one exponentiation for a batch (Montgomery's trick, "Speeding the Pollard and Elliptic Curve
// Methods of Factorization", 1987). A factor splits into two of half its size by an endomorphism
// (Gallant, Lambert and Vanstone, "Faster Point Multiplication on Elliptic Curves with Efficient
// Endomorphisms", 2001).
//
// Bounds: a Scalar is below n; ReduceWide states the bound after each addition, and the last is
// CHECKed. A half is below 2^128, CHECKed as well. A digit is at most 2^(kBits - 1) in magnitude.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace ibd::lanes {

/** Below n; the least significant word first. */
struct Scalar {
    std::array<uint64_t, 4> word{};
    friend bool operator==(const Scalar&, const Scalar&) = default;
};

/** Reads 32 bytes, big-endian, modulo n. `overflow` (may be null): whether the value was n or more.
 */
Scalar ScalarFromBytes(const uint8_t* bytes, bool* overflow);
bool IsZero(const Scalar& a);
Scalar Negate(const Scalar& a);
Scalar Multiply(const Scalar& a, const Scalar& b);
/** By Fermat's theorem, with an exponent in digits of four bits; zero for zero. 335
 *  multiplications: InvertAll shares one inversion. */
Scalar Invert(const Scalar& a);
/** Inverts each number with one inversion for all (Montgomery's trick). None may be zero. */
void InvertAll(std::span<Scalar> numbers);

__extension__ typedef unsigned __int128 Uint128;

/** The magnitude of half a scalar and its sign. */
struct Half {
    Uint128 magnitude = 0;
    bool negative = false;
};

/** k = first + second * lambda mod n, both of less than 128 bits (the endomorphism of Gallant,
 *  Lambert and Vanstone, with the basis that libsecp256k1 documents). */
struct Halves {
    Half first, second;
};
Halves SplitByLambda(const Scalar& k);

/** Signed digits of kBits bits, least significant first: the value is the sum of digit[i] *
 *  2^(kBits i), and no digit exceeds 2^(kBits - 1) in magnitude. */
template <int kBits>
constexpr size_t kDigitCount = (128 + kBits) / kBits;

template <int kBits>
using Digits = std::array<int16_t, kDigitCount<kBits>>;

template <int kBits>
Digits<kBits> SignedDigits(const Half& half)
{
    constexpr int kBase = 1 << kBits;
    Digits<kBits> digits;
    Uint128 rest = half.magnitude;
    int carry = 0;
    for (int16_t& digit : digits) {
        int value = static_cast<int>(rest & (kBase - 1)) + carry;
        rest >>= kBits;
        carry = value > kBase / 2 ? 1 : 0;
        value -= carry * kBase;
        digit = static_cast<int16_t>(half.negative ? -value : value);
    }
    return digits; // kDigitCount is large enough for the last carry
}

} // namespace ibd::lanes
