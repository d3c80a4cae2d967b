// The arithmetic of the lanes against Boost's big integers.
#include "big_numbers.h"
#include "lanes_checked.h"

#include "support/testdata.h"

#include <algorithm>
#include <cstdlib>

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

lanes::Word32 Random32()
{
    lanes::Word32 out;
    std::ranges::copy(RandomBytes(32), out.begin());
    return out;
}

Big ValueOf(const lanes::Field& a, size_t lane)
{
    Big out = 0;
    for (size_t i = lanes::kLimbs; i-- > 0;) out = (out << 52) + a.limb[i][lane];
    return out;
}

/** A reduced element whose limbs are random or at an edge: 0, 1, the largest, one less. */
lanes::Field EdgyField()
{
    lanes::Field out{};
    for (size_t lane = 0; lane < lanes::kLanes; ++lane) {
        for (size_t i = 0; i < lanes::kLimbs; ++i) {
            const uint64_t largest = i == 4 ? (uint64_t{1} << 49) - 1 : lanes::kMask52;
            uint64_t random = 0;
            for (const uint8_t byte : RandomBytes(8)) random = random << 8 | byte;
            const uint64_t edges[] = {
                0, 1, largest, largest - 1, random & largest, random & largest};
            out.limb[i][lane] = edges[(random >> 56) % std::size(edges)];
        }
    }
    return out;
}

void RequireReduced(const lanes::Field& a)
{
    for (size_t lane = 0; lane < lanes::kLanes; ++lane) {
        for (size_t i = 0; i < 4; ++i) REQUIRE(a.limb[i][lane] >> 52 == 0);
        REQUIRE(a.limb[4][lane] >> 49 == 0);
    }
}

/** Checks `result`, reduced, against what `expected` computes of the operands in each lane. */
template <typename Expected>
void CheckLanes(const lanes::Field& result, const Expected& expected)
{
    RequireReduced(result);
    for (size_t lane = 0; lane < lanes::kLanes; ++lane) {
        const Big wanted = ((expected(lane) % kP) + kP) % kP;
        REQUIRE(ValueOf(result, lane) % kP == wanted);
    }
}

Big ValueOf(const lanes::Scalar& a)
{
    Big out = 0;
    for (size_t i = 4; i-- > 0;) out = (out << 64) + a.word[i];
    return out;
}

Big ValueOf(const lanes::Half& a)
{
    const Big magnitude =
        (Big(static_cast<uint64_t>(a.magnitude >> 64)) << 64) + static_cast<uint64_t>(a.magnitude);
    return a.negative ? Big(-magnitude) : magnitude;
}

/** Random, or one that the arithmetic could get wrong: near 0, near n, with long runs of bits. */
lanes::Scalar EdgyScalar()
{
    lanes::Word32 bytes = Random32();
    switch (bytes[0] % 6) {
    case 0: bytes.fill(0); break;
    case 1: bytes.fill(0xff); break;
    case 2: std::fill(bytes.begin() + bytes[1] % 32, bytes.end(), 0); break;
    case 3: std::fill(bytes.begin(), bytes.begin() + bytes[1] % 32, 0xff); break;
    default: break;
    }
    bytes[31] ^= Random32()[0] % 4;
    return lanes::ScalarFromBytes(bytes.data(), nullptr);
}

template <int kBits>
void CheckDigits(const lanes::Half& half)
{
    Big sum = 0;
    const auto digits = lanes::SignedDigits<kBits>(half);
    for (size_t i = digits.size(); i-- > 0;) {
        REQUIRE(std::abs(digits[i]) <= 1 << (kBits - 1));
        sum = (sum << kBits) + digits[i];
    }
    REQUIRE(sum == ValueOf(half));
}

} // namespace

TEST_CASE("lanes: field arithmetic equals that of big integers, at the edges of every limb")
{
    using namespace lanes;
    for (int round = 0; round < 300; ++round) {
        const Field a = EdgyField(), b = EdgyField(), c = EdgyField();
        Field out, loose;
        Multiply(out, a, b);
        CheckLanes(out, [&](size_t l) { return ValueOf(a, l) * ValueOf(b, l); });
        Multiply<4>(out, a, b);
        CheckLanes(out, [&](size_t l) { return 4 * ValueOf(a, l) * ValueOf(b, l); });
        Square<3>(out, a);
        CheckLanes(out, [&](size_t l) { return 3 * ValueOf(a, l) * ValueOf(a, l); });
        Negate<8>(loose, c);
        MultiplyAdd(out, a, b, loose);
        CheckLanes(out,
                   [&](size_t l) { return ValueOf(a, l) * ValueOf(b, l) - 8 * ValueOf(c, l); });
        SquareAdd(out, a, loose);
        CheckLanes(out,
                   [&](size_t l) { return ValueOf(a, l) * ValueOf(a, l) - 8 * ValueOf(c, l); });
        Subtract(out, a, b);
        CheckLanes(out, [&](size_t l) { return ValueOf(a, l) - ValueOf(b, l); });
        out = a;
        Normalize(out);
        for (size_t l = 0; l < kLanes; ++l) REQUIRE(ValueOf(out, l) == ValueOf(a, l) % kP);
    }
}

TEST_CASE("lanes: every combination of the edges of limbs, multiplied and squared")
{
    using namespace lanes;
    constexpr int kAll = 4 * 4 * 4 * 4 * 4;
    for (int first = 0; first < kAll; first += static_cast<int>(kLanes)) {
        Field a{}, out;
        for (size_t lane = 0; lane < kLanes; ++lane) {
            int choice = first + static_cast<int>(lane);
            for (size_t i = 0; i < kLimbs; ++i, choice /= 4) {
                const uint64_t largest = i == 4 ? (uint64_t{1} << 49) - 1 : kMask52;
                const uint64_t edges[] = {0, 1, largest - 1, largest};
                a.limb[i][lane] = edges[choice % 4];
            }
        }
        const Field b = EdgyField();
        Multiply(out, a, b);
        CheckLanes(out, [&](size_t l) { return ValueOf(a, l) * ValueOf(b, l); });
        Square(out, a);
        CheckLanes(out, [&](size_t l) { return ValueOf(a, l) * ValueOf(a, l); });
        Negate(out, a);
        Carry(out);
        CheckLanes(out, [&](size_t l) -> Big { return -ValueOf(a, l); });
        const Mask zero = ZeroLanes(a), odd = OddLanes(a);
        for (size_t l = 0; l < kLanes; ++l) {
            REQUIRE((zero >> l & 1) == (ValueOf(a, l) % kP == 0 ? 1 : 0));
            REQUIRE((odd >> l & 1) == static_cast<int>(ValueOf(a, l) % kP % 2));
        }
    }
}

TEST_CASE("lanes: Carry takes the largest loose elements")
{
    using namespace lanes;
    for (int round = 0; round < 100; ++round) {
        Field a = EdgyField();
        for (Vector& limb : a.limb) {
            for (size_t lane = 0; lane < kLanes; ++lane)
                limb[lane] |= (RandomBytes(1)[0] & 63ULL) << 52;
        }
        Field out = a;
        Carry(out);
        CheckLanes(out, [&](size_t l) { return ValueOf(a, l); });
    }
}

TEST_CASE("lanes: zero, parity and normal form near multiples of p")
{
    using namespace lanes;
    for (int offset = -3; offset <= 3; ++offset) {
        for (int multiple = 0; multiple <= 1; ++multiple) {
            const Big value = kP * multiple + offset;
            if (value < 0) continue;
            Field a{};
            for (size_t i = 0; i < kLimbs; ++i) {
                Broadcast(a.limb[i], static_cast<uint64_t>((value >> (52 * i)) & kMask52));
            }
            CHECK(ZeroLanes(a) == (value % kP == 0 ? 0xff : 0));
            CHECK(OddLanes(a) == ((value % kP) % 2 == 1 ? 0xff : 0));
        }
    }
}

TEST_CASE("lanes: inverses and square roots")
{
    using namespace lanes;
    for (int round = 0; round < 5; ++round) {
        const Field a = EdgyField(), b = EdgyField();
        Field inverse[2] = {a, b}, root[2], product;
        Invert(inverse);
        Multiply(product, inverse[1], b);
        for (size_t l = 0; l < kLanes; ++l) {
            REQUIRE(ValueOf(product, l) % kP == (ValueOf(b, l) % kP == 0 ? 0 : 1));
        }
        Square(root[0], a);
        Square(root[1], b);
        SquareRoot(root);
        Square(root[0], root[0]);
        CheckLanes(root[0], [&](size_t l) { return ValueOf(a, l) * ValueOf(a, l); });
    }
}

namespace {

/** Every number whose words are at an edge: of the word, or of n's word there. */
std::vector<std::array<uint64_t, 4>> EdgeWords()
{
    std::vector<std::array<uint64_t, 4>> out(1);
    for (size_t i = 0; i < 4; ++i) {
        const auto own = static_cast<uint64_t>((kN >> (64 * i)) & ~uint64_t{0});
        std::vector<std::array<uint64_t, 4>> longer;
        for (std::array<uint64_t, 4> words : out) {
            for (const uint64_t word :
                 {uint64_t{0}, uint64_t{1}, own - 1, own, own + 1, ~uint64_t{0}}) {
                words[i] = word;
                longer.push_back(words);
            }
        }
        out = std::move(longer);
    }
    return out;
}

lanes::Word32 BigEndian(const std::array<uint64_t, 4>& words)
{
    lanes::Word32 out;
    for (size_t i = 0; i < out.size(); ++i) {
        out[31 - i] = static_cast<uint8_t>(words[i / 8] >> (8 * (i % 8)));
    }
    return out;
}

/** The halves and their digits add up to the number. */
void CheckSplit(const lanes::Scalar& a)
{
    const Big lambda("0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72");
    const lanes::Halves halves = lanes::SplitByLambda(a);
    const Big sum = ValueOf(halves.first) + ValueOf(halves.second) * lambda;
    REQUIRE(((sum - ValueOf(a)) % kN) == 0);
    for (const lanes::Half& half : {halves.first, halves.second}) {
        CheckDigits<lanes::kKeyBits>(half);
        CheckDigits<lanes::Secp256k1::kGeneratorBits>(half);
    }
}

} // namespace

TEST_CASE("lanes: scalars at the edges of every word equal big integers")
{
    const std::vector<std::array<uint64_t, 4>> edges = EdgeWords();
    REQUIRE(edges.size() == 6 * 6 * 6 * 6);
    lanes::Scalar before;
    for (const std::array<uint64_t, 4>& words : edges) {
        const Big value = ValueOf(lanes::Scalar{words});
        bool overflow = false;
        const lanes::Scalar a = lanes::ScalarFromBytes(BigEndian(words).data(), &overflow);
        REQUIRE(overflow == (value >= kN));
        REQUIRE(ValueOf(a) == value % kN);
        REQUIRE(ValueOf(lanes::Negate(a)) == (kN - ValueOf(a)) % kN);
        REQUIRE(lanes::IsZero(a) == (ValueOf(a) == 0));
        REQUIRE(ValueOf(lanes::Multiply(a, a)) == ValueOf(a) * ValueOf(a) % kN);
        REQUIRE(ValueOf(lanes::Multiply(a, before)) == ValueOf(a) * ValueOf(before) % kN);
        CheckSplit(a);
        before = a;
    }
}

// A half is largest where the rounding of SplitByLambda is at its edge.
TEST_CASE("lanes: numbers at the edges of the rounding are split")
{
    const Big scaled_a1("0x3086d221a7d46bcde86c90e49284eb153daa8a1471e8ca7fe893209a45dbb031");
    const Big scaled_b1("0xe4437ed6010e88286f547fa90abfe4c4221208ac9df506c61571b4ae8ac47f71");
    for (int round = 0; round < 500; ++round) {
        const Big& scaled = round % 2 == 0 ? scaled_a1 : scaled_b1;
        Big multiple = 0;
        for (const uint8_t byte : RandomBytes(16)) multiple = multiple * 256 + byte;
        const Big edge = ((multiple << 384) + (Big(1) << 383)) / scaled;
        for (int offset = -1; offset <= 1; ++offset) {
            const Big value = (((edge + offset) % kN) + kN) % kN;
            lanes::Scalar a;
            for (size_t i = 0; i < 4; ++i) {
                a.word[i] = static_cast<uint64_t>((value >> (64 * i)) & ~uint64_t{0});
            }
            CheckSplit(a);
        }
    }
}

TEST_CASE("lanes: random scalars equal big integers, and their halves and digits add up")
{
    for (int round = 0; round < 2'000; ++round) {
        const lanes::Scalar a = EdgyScalar(), b = EdgyScalar();
        REQUIRE(ValueOf(a) < kN);
        REQUIRE(ValueOf(lanes::Multiply(a, b)) == ValueOf(a) * ValueOf(b) % kN);
        REQUIRE(ValueOf(lanes::Negate(a)) == (kN - ValueOf(a)) % kN);
        CheckSplit(a);
    }
    std::vector<lanes::Scalar> numbers;
    while (numbers.size() < 50) {
        if (const lanes::Scalar next = EdgyScalar(); !lanes::IsZero(next)) numbers.push_back(next);
    }
    const std::vector<lanes::Scalar> before = numbers;
    lanes::InvertAll(numbers);
    for (size_t i = 0; i < numbers.size(); ++i) {
        REQUIRE(ValueOf(numbers[i]) * ValueOf(before[i]) % kN == 1);
    }
}

} // namespace ibd
