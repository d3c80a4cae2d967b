// See lanes_scalar.h. Schoolbook multiplication in 64-bit words. The part above 2^256 is multiplied
// by 2^256 - n, a number of 129 bits, and added, until no part is above 2^256.
#include "crypto/lanes_scalar.h"
#include "util/check.h"

#include <vector>

namespace ibd::lanes {

namespace {

constexpr std::array<uint64_t, 4> kOrder = {0xBFD25E8CD0364141, 0xBAAEDCE6AF48A03B,
                                            0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF};
/** 2^256 - n */
constexpr std::array<uint64_t, 3> kComplement = {0x402DA1732FC9BEBF, 0x4551231950B75FC4, 1};

// The basis of the lattice of (a, b) with a + b * lambda = 0 mod n: (kA1, -kMinusB1), (kA2, kA1);
// and its entries over n times 2^384, rounded (Guide to Elliptic Curve Cryptography,
// algorithm 3.74).
constexpr std::array<uint64_t, 3> kA1 = {0xE86C90E49284EB15, 0x3086D221A7D46BCD, 0};
constexpr std::array<uint64_t, 3> kMinusB1 = {0x6F547FA90ABFE4C3, 0xE4437ED6010E8828, 0};
constexpr std::array<uint64_t, 3> kA2 = {0x57C1108D9D44CFD8, 0x14CA50F7A8E2F3F6, 1};
constexpr std::array<uint64_t, 4> kScaledA1 = {0xE893209A45DBB031, 0x3DAA8A1471E8CA7F,
                                               0xE86C90E49284EB15, 0x3086D221A7D46BCD};
constexpr std::array<uint64_t, 4> kScaledMinusB1 = {0x1571B4AE8AC47F71, 0x221208AC9DF506C6,
                                                    0x6F547FA90ABFE4C4, 0xE4437ED6010E8828};

/** a - b; returns whether it borrowed. */
template <size_t kWords>
bool SubtractFrom(std::array<uint64_t, kWords>& a, const std::array<uint64_t, kWords>& b)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < kWords; ++i) {
        const Uint128 difference = Uint128{a[i]} - b[i] - borrow;
        a[i] = static_cast<uint64_t>(difference);
        borrow = static_cast<uint64_t>(difference >> 64) & 1;
    }
    return borrow != 0;
}

/** out += a * b, modulo out's size. The loops have fixed lengths, to be unrolled. */
template <size_t kOut, size_t kA, size_t kB>
void MultiplyAdd(std::array<uint64_t, kOut>& out, const std::array<uint64_t, kA>& a,
                 const std::array<uint64_t, kB>& b)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < kA; ++i) {
        uint64_t carry = 0;
#pragma GCC unroll 8
        for (size_t j = 0; i + j < kOut; ++j) {
            Uint128 sum = Uint128{out[i + j]} + carry;
            if (j < kB) sum += Uint128{a[i]} * b[j];
            out[i + j] = static_cast<uint64_t>(sum);
            carry = static_cast<uint64_t>(sum >> 64);
        }
    }
}

bool AtLeastOrder(const std::array<uint64_t, 4>& a)
{
    for (size_t i = 4; i-- > 0;) {
        if (a[i] != kOrder[i]) return a[i] > kOrder[i];
    }
    return true;
}

/** The low four words plus the others times 2^256 - n: congruent, and 127 bits shorter. */
template <size_t kWords>
auto FoldOnce(const std::array<uint64_t, kWords>& wide)
{
    constexpr size_t kOut = kWords > 7 ? 7 : 5;
    std::array<uint64_t, kOut> out{};
    std::array<uint64_t, kWords - 4> high;
    for (size_t i = 0; i < 4; ++i) out[i] = wide[i];
    for (size_t i = 4; i < kWords; ++i) high[i - 4] = wide[i];
    MultiplyAdd(out, high, kComplement);
    return out;
}

Scalar ReduceWide(const std::array<uint64_t, 8>& wide)
{
    const std::array<uint64_t, 7> once = FoldOnce(wide);   // < 2^386
    const std::array<uint64_t, 5> twice = FoldOnce(once);  // < 2^260
    const std::array<uint64_t, 5> third = FoldOnce(twice); // < 2^256 + 2^133
    const std::array<uint64_t, 5> last = FoldOnce(third);  // < 2^256
    Scalar out{{last[0], last[1], last[2], last[3]}};
    CHECK(last[4] == 0);
    if (AtLeastOrder(out.word)) SubtractFrom(out.word, kOrder);
    return out;
}

/** a * b / 2^384, rounded. */
std::array<uint64_t, 3> RoundedHigh(const std::array<uint64_t, 4>& a,
                                    const std::array<uint64_t, 4>& b)
{
    std::array<uint64_t, 8> wide{};
    MultiplyAdd(wide, a, b);
    Uint128 value = (Uint128{wide[7]} << 64 | wide[6]) + (wide[5] >> 63);
    return {static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64), 0};
}

/** A number of three words in two's complement whose magnitude has at most 128 bits. */
Half SignedHalf(std::array<uint64_t, 3> value)
{
    Half half;
    half.negative = value[2] >> 63 != 0;
    if (half.negative) {
        std::array<uint64_t, 3> zero{};
        SubtractFrom(zero, value);
        value = zero;
    }
    CHECK(value[2] == 0);
    half.magnitude = Uint128{value[1]} << 64 | value[0];
    return half;
}

} // namespace

Scalar ScalarFromBytes(const uint8_t* bytes, bool* overflow)
{
    Scalar out;
    for (size_t i = 0; i < 32; ++i) {
        out.word[3 - i / 8] = out.word[3 - i / 8] << 8 | bytes[i];
    }
    const bool above = AtLeastOrder(out.word);
    if (above) SubtractFrom(out.word, kOrder);
    if (overflow != nullptr) *overflow = above;
    return out;
}

bool IsZero(const Scalar& a) { return a == Scalar{}; }

Scalar Negate(const Scalar& a)
{
    if (IsZero(a)) return a;
    Scalar out{kOrder};
    SubtractFrom(out.word, a.word);
    return out;
}

Scalar Multiply(const Scalar& a, const Scalar& b)
{
    std::array<uint64_t, 8> wide{};
    MultiplyAdd(wide, a.word, b.word);
    return ReduceWide(wide);
}

Scalar Invert(const Scalar& a)
{
    std::array<uint64_t, 4> exponent = kOrder;
    exponent[0] -= 2;
    std::array<Scalar, 16> power{Scalar{{1, 0, 0, 0}}};
    for (size_t i = 1; i < power.size(); ++i) power[i] = Multiply(power[i - 1], a);
    Scalar out = power[0];
    for (size_t digit = 64; digit-- > 0;) {
        for (int bit = 0; bit < 4; ++bit) out = Multiply(out, out);
        out = Multiply(out, power[exponent[digit / 16] >> digit % 16 * 4 & 15]);
    }
    return out;
}

void InvertAll(std::span<Scalar> numbers)
{
    if (numbers.empty()) return;
    std::vector<Scalar> before(numbers.size()); // before[i]: product of the numbers before i
    Scalar product{{1, 0, 0, 0}};
    for (size_t i = 0; i < numbers.size(); ++i) {
        before[i] = product;
        product = Multiply(product, numbers[i]);
    }
    CHECK(!IsZero(product));
    Scalar inverse = Invert(product);
    for (size_t i = numbers.size(); i-- > 0;) {
        const Scalar own = Multiply(inverse, before[i]);
        inverse = Multiply(inverse, numbers[i]);
        numbers[i] = own;
    }
}

Halves SplitByLambda(const Scalar& k)
{
    const std::array<uint64_t, 3> first = RoundedHigh(k.word, kScaledA1);
    const std::array<uint64_t, 3> second = RoundedHigh(k.word, kScaledMinusB1);
    // k - first * a1 - second * a2 and first * -b1 - second * a1, modulo 2^192
    std::array<uint64_t, 3> low = {k.word[0], k.word[1], k.word[2]}, taken{}, high{}, less{};
    MultiplyAdd(taken, first, kA1);
    MultiplyAdd(taken, second, kA2);
    SubtractFrom(low, taken);
    MultiplyAdd(high, first, kMinusB1);
    MultiplyAdd(less, second, kA1);
    SubtractFrom(high, less);
    return {SignedHalf(low), SignedHalf(high)};
}

} // namespace ibd::lanes
