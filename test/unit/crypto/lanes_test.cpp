// The lanes against references: field and scalars against Boost's big integers, verdicts of batches
// against libsecp256k1. IBD_SIGNATURES: how many random signatures (default 4,000).
#include "crypto/signature_batch.h"
#include "lanes_checked.h"

#include "support/testdata.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdlib>

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

using Big = boost::multiprecision::cpp_int;

const Big kP("0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f");
const Big kN("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");

Hash32 Random32()
{
    Hash32 out;
    std::ranges::copy(RandomBytes(32), out.begin());
    return out;
}

// --- field
// ----------------------------------------------------------------------------------------

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

void CheckReduced(const lanes::Field& a)
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
    CheckReduced(result);
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
    Hash32 bytes = Random32();
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

// --- batches
// --------------------------------------------------------------------------------------

/** One check as libsecp256k1 makes it, and noted in batches. */
struct Checks {
    std::vector<bool> expected;
    std::vector<SignatureBatch> batches;

    Checks()
    {
        batches.emplace_back(LanesMode::kOn, lanes::VerifyAll); // checked arithmetic
        batches.emplace_back(LanesMode::kOn);                   // the machine's
        batches.emplace_back(LanesMode::kOff);
    }
    void Ecdsa(ByteSpan key, ByteSpan der, const Hash32& message)
    {
        for (SignatureBatch& batch : batches) batch.AddEcdsa(key, der, message);
        expected.push_back(VerifyEcdsa(key, der, message));
    }
    void Schnorr(const XOnlyKey& key, const SchnorrSignature& signature, const Hash32& message)
    {
        for (SignatureBatch& batch : batches) batch.AddSchnorr(key, signature, message);
        expected.push_back(VerifySchnorr(key, signature, message));
    }
    /** Returns how many are valid. */
    size_t Judge()
    {
        for (SignatureBatch& batch : batches) {
            const std::vector<bool> verdicts = batch.Verify();
            REQUIRE(verdicts == expected);
            batch.Clear();
        }
        const auto valid = static_cast<size_t>(std::ranges::count(expected, true));
        expected.clear();
        return valid;
    }
};

Bytes Der(const Hash32& r, const Hash32& s)
{
    Bytes out = {0x30, 70, 0x02, 33, 0};
    Append(out, r);
    Append(out, Bytes{0x02, 33, 0});
    Append(out, s);
    return out;
}

template <size_t N>
void Spoil(std::array<uint8_t, N>& bytes, size_t begin, size_t end)
{
    const size_t at = begin + RandomBytes(1)[0] % (end - begin);
    bytes[at] ^= static_cast<uint8_t>(1u << RandomBytes(1)[0] % 8);
}

/** A signature in any form of key, spoilt in a part of it, or whole. */
void AddRandomEcdsa(Checks& checks, const Signer& signer)
{
    const Hash32 secret = Random32();
    Hash32 message = Random32();
    auto compact = *ParseLaxDer(signer.SignEcdsa(secret, message));
    UncompressedKey full = signer.UncompressedPublicKey(secret);
    CompressedKey key = signer.PublicKey(secret);
    switch (RandomBytes(1)[0] % 10) {
    case 0: Spoil(message, 0, 32); break;
    case 1: Spoil(compact, 0, 32); break;
    case 2: Spoil(compact, 32, 64); break;
    case 3:
        Spoil(full, 1, 65);
        Spoil(key, 1, 33);
        break;
    case 4:
        full[0] = static_cast<uint8_t>(RandomBytes(1)[0] % 8);
        key[0] = full[0];
        break;
    case 5: std::fill(compact.begin() + (RandomBytes(1)[0] % 2) * 32, compact.end(), 0xff); break;
    default: break;
    }
    Hash32 r, s;
    std::copy_n(compact.begin(), 32, r.begin());
    std::copy_n(compact.begin() + 32, 32, s.begin());
    if (RandomBytes(1)[0] % 2 != 0) full[0] = static_cast<uint8_t>(6 + full[64] % 2);
    checks.Ecdsa(RandomBytes(1)[0] % 3 == 0 ? ByteSpan(full) : ByteSpan(key), Der(r, s), message);
}

void AddRandomSchnorr(Checks& checks, const Signer& signer)
{
    const Hash32 secret = Random32();
    Hash32 message = Random32();
    SchnorrSignature signature = signer.SignSchnorr(secret, message);
    XOnlyKey key = signer.XOnlyPublicKey(secret);
    switch (RandomBytes(1)[0] % 8) {
    case 0: Spoil(message, 0, 32); break;
    case 1: Spoil(signature, 0, 32); break;
    case 2: Spoil(signature, 32, 64); break;
    case 3: Spoil(key, 0, 32); break;
    case 4:
        std::fill(signature.begin() + (RandomBytes(1)[0] % 2) * 32, signature.end(), 0xff);
        break;
    default: break;
    }
    checks.Schnorr(key, signature, message);
}

lanes::Scalar Small(uint8_t value) { return {{value, 0, 0, 0}}; }

lanes::Scalar Shifted(uint8_t value, int bits) { return {{uint64_t{value} << bits, 0, 0, 0}}; }

Hash32 BytesOf(const lanes::Scalar& a)
{
    Hash32 out;
    for (size_t i = 0; i < 32; ++i) {
        out[i] = static_cast<uint8_t>(a.word[3 - i / 8] >> (56 - 8 * (i % 8)));
    }
    return out;
}

/** The valid signature of the key secret * G whose equation is u1 G + u2 Q: r = x of that point,
 *  s = r / u2, message = u1 s. */
void AddMadeEcdsa(Checks& checks, const Signer& signer, const lanes::Scalar& secret,
                  const lanes::Scalar& u1, const lanes::Scalar& u2)
{
    const Big sum = (ValueOf(u1) + ValueOf(u2) * ValueOf(secret)) % kN;
    lanes::Scalar point_secret;
    for (size_t i = 0; i < 4; ++i) {
        point_secret.word[i] = static_cast<uint64_t>((sum >> (64 * i)) & ~uint64_t{0});
    }
    const XOnlyKey x = signer.XOnlyPublicKey(BytesOf(point_secret));
    const lanes::Scalar r = lanes::ScalarFromBytes(x.data(), nullptr);
    const lanes::Scalar s = lanes::Multiply(r, lanes::Invert(u2));
    checks.Ecdsa(signer.PublicKey(BytesOf(secret)), Der(BytesOf(r), BytesOf(s)),
                 BytesOf(lanes::Multiply(u1, s)));
}

size_t Wanted()
{
    const char* const text = std::getenv("IBD_SIGNATURES");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 4'000;
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

TEST_CASE("lanes: scalars equal big integers, and their halves and digits add up")
{
    const Big lambda("0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72");
    for (int round = 0; round < 2'000; ++round) {
        const lanes::Scalar a = EdgyScalar(), b = EdgyScalar();
        REQUIRE(ValueOf(a) < kN);
        REQUIRE(ValueOf(lanes::Multiply(a, b)) == ValueOf(a) * ValueOf(b) % kN);
        REQUIRE(ValueOf(lanes::Negate(a)) == (kN - ValueOf(a)) % kN);
        const lanes::Halves halves = lanes::SplitByLambda(a);
        const Big sum = ValueOf(halves.first) + ValueOf(halves.second) * lambda;
        REQUIRE(((sum - ValueOf(a)) % kN) == 0);
        CheckDigits<lanes::kKeyBits>(halves.first);
        CheckDigits<lanes::kKeyBits>(halves.second);
        CheckDigits<lanes::kGeneratorBits>(halves.second);
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

TEST_CASE("signature batch: verdicts equal libsecp256k1's, whichever part is spoilt")
{
    const Signer signer;
    Checks checks;
    checks.batches.erase(checks.batches.begin()); // too slow at this count
    size_t valid = 0;
    const size_t wanted = Wanted();
    for (size_t done = 0; done < wanted;) {
        for (size_t i = RandomBytes(1)[0] % 200u + 1; i > 0; --i, ++done) {
            RandomBytes(1)[0] % 3 == 0 ? AddRandomSchnorr(checks, signer)
                                       : AddRandomEcdsa(checks, signer);
        }
        valid += checks.Judge();
    }
    CHECK(valid > wanted / 4);
    CHECK(valid < wanted);
}

TEST_CASE("signature batch: no bound is exceeded on the way to a verdict")
{
    const Signer signer;
    Checks checks;
    for (int i = 0; i < 13; ++i) {
        AddRandomEcdsa(checks, signer);
        AddRandomSchnorr(checks, signer);
    }
    checks.Judge();
    CHECK(std::vector<bool>{} == checks.batches[0].Verify());
}

// Signatures that are valid, although the ladder meets equal points (u1 = u2 with key G: the first
// entries of both tables) or opposite ones at bit 44, where digits of both factors end, so that it
// is at infinity when bits are left.
TEST_CASE("signature batch: equal and opposite points on the way to a valid signature")
{
    const Signer signer;
    Checks checks;
    for (uint8_t factor = 1; factor <= 8; ++factor) {
        AddMadeEcdsa(checks, signer, Small(1), Small(factor), Small(factor));
        const lanes::Scalar shifted = Shifted(factor, 44);
        for (uint8_t low = 0; low < 4; ++low) {
            lanes::Scalar u1 = shifted, u2 = shifted;
            u1.word[0] += low;
            u2.word[0] += 5;
            AddMadeEcdsa(checks, signer, lanes::Negate(Small(1)), u1, u2);
            AddMadeEcdsa(checks, signer, Small(1), u1, u2);
        }
    }
    const size_t made = checks.expected.size();
    CHECK(checks.Judge() == made);
}

TEST_CASE("signature batch: small keys, messages and numbers, which end at infinity too")
{
    const Signer signer;
    Checks checks;
    for (uint8_t secret = 1; secret <= 24; ++secret) {
        for (const lanes::Scalar& key_secret : {Small(secret), lanes::Negate(Small(secret))}) {
            const CompressedKey key = signer.PublicKey(BytesOf(key_secret));
            const XOnlyKey x = signer.XOnlyPublicKey(BytesOf(Small(secret)));
            for (uint8_t number = 0; number < 4; ++number) {
                const Hash32 message = BytesOf(Small(number));
                checks.Ecdsa(key, signer.SignEcdsa(BytesOf(key_secret), message), message);
                checks.Ecdsa(key, Der(x, x), message);
                checks.Ecdsa(key, Der(x, BytesOf(Small(number))), message);
                checks.Ecdsa(key, Der(BytesOf(Small(secret)), x), message);
            }
            // message = r * secret' gives u1 G + u2 Q = 0 for the opposite key
            const lanes::Scalar r = lanes::ScalarFromBytes(x.data(), nullptr);
            const lanes::Scalar opposite = lanes::Negate(lanes::Multiply(r, key_secret));
            checks.Ecdsa(key, Der(x, BytesOf(Small(7))), BytesOf(opposite));
            const SchnorrSignature schnorr = signer.SignSchnorr(BytesOf(key_secret), BytesOf(r));
            checks.Schnorr(signer.XOnlyPublicKey(BytesOf(key_secret)), schnorr, BytesOf(r));
        }
    }
    CHECK(checks.Judge() > 200);
}

namespace {

void AlwaysValid(std::span<const lanes::Job>, std::span<lanes::Verdict> verdicts)
{
    std::ranges::fill(verdicts, lanes::Verdict::kValid);
}

void SometimesWrong(std::span<const lanes::Job> jobs, std::span<lanes::Verdict> verdicts)
{
    lanes::VerifyAll(jobs, verdicts);
    verdicts.back() = verdicts.back() == lanes::Verdict::kValid ? lanes::Verdict::kInvalid
                                                                : lanes::Verdict::kValid;
}

} // namespace

TEST_CASE("signature batch: the look at the processor finds lanes that compute wrongly")
{
    CHECK(LanesAgree(lanes::VerifyAll));
    CHECK(LanesAgree());
    CHECK(LanesAgree(nullptr));
    CHECK_FALSE(LanesAgree(AlwaysValid));
    CHECK_FALSE(LanesAgree(SometimesWrong));
}

TEST_CASE("signature batch: malformed keys and signatures are false, none is lost")
{
    const Signer signer;
    const Hash32 secret = Random32(), message = Random32();
    const Bytes der = signer.SignEcdsa(secret, message);
    Checks checks;
    checks.Ecdsa({}, der, message);
    checks.Ecdsa(Bytes(33), der, message);
    checks.Ecdsa(Bytes(65, 4), der, message);
    checks.Ecdsa(Bytes(66, 2), der, message);
    checks.Ecdsa(Bytes(300, 2), der, message);
    checks.Ecdsa(signer.PublicKey(secret), {}, message);
    checks.Ecdsa(signer.PublicKey(secret), Bytes(9), message);
    checks.Ecdsa(signer.PublicKey(secret), Der(BytesOf(Small(0)), BytesOf(Small(1))), message);
    checks.Ecdsa(signer.PublicKey(secret), Der(BytesOf(Small(1)), BytesOf(Small(0))), message);
    checks.Ecdsa(signer.PublicKey(secret), der, message);
    XOnlyKey not_on_curve{};
    checks.Schnorr(not_on_curve, signer.SignSchnorr(secret, message), message);
    not_on_curve.fill(0xff);
    checks.Schnorr(not_on_curve, signer.SignSchnorr(secret, message), message);
    CHECK(checks.Judge() == 1);
}

} // namespace ibd
