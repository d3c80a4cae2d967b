// Batches of signatures against libsecp256k1: the verdicts are the same. Their numbers are random,
// changed in every part, or made so that the lanes meet an exceptional case.
#include "big_numbers.h"
#include "crypto/recoverable.h"
#include "crypto/signature_batch.h"
#include "lanes_checked.h"

#include "support/testdata.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

Hash32 Random32()
{
    Hash32 out;
    std::ranges::copy(RandomBytes(32), out.begin());
    return out;
}

Big ValueOf(const lanes::Scalar& a)
{
    Big out = 0;
    for (size_t i = 4; i-- > 0;) out = (out << 64) + a.word[i];
    return out;
}

/** One check as libsecp256k1 makes it, and noted in batches. */
struct Checks {
    std::vector<bool> expected;
    std::vector<SignatureBatch> batches;
    size_t unsure = 0; //!< verdicts of the last Judge() that lanes did not have

    /** By default the lanes with checked arithmetic, those of the machine, and libsecp256k1. */
    explicit Checks(std::initializer_list<lanes::VerifyFunction> verifiers = {
                        lanes::VerifyOn<lanes::Secp256k1>, lanes::IfmaVerifier(),
                        lanes::Avx2Verifier(), nullptr})
    {
        for (const auto verifier : verifiers) batches.emplace_back(LanesMode::kOn, verifier);
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
    void Tweak(const XOnlyKey& output, bool odd, const XOnlyKey& internal, const Hash32& tweak)
    {
        for (SignatureBatch& batch : batches) batch.AddTweak(output, odd, internal, tweak);
        expected.push_back(CheckTaprootTweak(output, odd, internal, tweak));
    }
    size_t CountUnsure(const std::vector<lanes::Verdict>& verdicts) const
    {
        size_t count = 0;
        for (size_t i = 0; i < verdicts.size(); ++i) {
            const bool decided = verdicts[i] != lanes::Verdict::kUnsure;
            if (decided) REQUIRE((verdicts[i] == lanes::Verdict::kValid) == expected[i]);
            count += decided ? 0 : 1;
        }
        return count;
    }
    /** Returns how many are valid. */
    size_t Judge()
    {
        unsure = 0;
        for (SignatureBatch& batch : batches) {
            REQUIRE(batch.Decide() == expected);
            unsure += CountUnsure(batch.Verify());
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
    const size_t at = begin + TestRng().Below(end - begin);
    bytes[at] ^= static_cast<uint8_t>(1u << TestRng().Below(8));
}

Big BigOf(ByteSpan bytes)
{
    Big out = 0;
    for (const uint8_t byte : bytes) out = (out << 8) + byte;
    return out;
}

/** The lowest 256 bits. */
Hash32 BytesOf(const Big& value)
{
    Hash32 out;
    for (size_t i = 0; i < out.size(); ++i) {
        out[31 - i] = static_cast<uint8_t>((value >> (8 * i)) & 0xff);
    }
    return out;
}

/** An ECDSA check before it is encoded. */
struct EcdsaParts {
    Hash32 message, r, s;
    UncompressedKey full;
    CompressedKey key;

    void SetX(const Hash32& x)
    {
        std::ranges::copy(x, full.begin() + 1);
        std::ranges::copy(x, key.begin() + 1);
    }
};

Hash32 Largest()
{
    Hash32 out;
    out.fill(0xff);
    return out;
}

/** Just above or below the order. */
Hash32 NearOrder() { return BytesOf(Big(kN - 2 + TestRng().Below(5))); }

/** Every change to a check that is tried; the last ones leave it valid. */
using Change = void (*)(EcdsaParts&);
const Change kChanges[] = {
    [](EcdsaParts& p) { Spoil(p.message, 0, 32); },
    [](EcdsaParts& p) { Spoil(p.r, 0, 32); },
    [](EcdsaParts& p) { Spoil(p.s, 0, 32); },
    [](EcdsaParts& p) { Spoil(p.full, 1, 65), Spoil(p.key, 1, 33); }, // mostly not on the curve
    [](EcdsaParts& p) { p.full[0] = p.key[0] = static_cast<uint8_t>(TestRng().Below(9)); },
    [](EcdsaParts& p) { p.full[0] = static_cast<uint8_t>(6 + TestRng().Below(2)); }, // hybrid
    [](EcdsaParts& p) { p.r = {}; },
    [](EcdsaParts& p) { p.s = {}; },
    [](EcdsaParts& p) { p.r = NearOrder(); },
    [](EcdsaParts& p) { p.s = NearOrder(); },
    [](EcdsaParts& p) { p.r = Largest(); },
    [](EcdsaParts& p) { p.s = Largest(); },
    [](EcdsaParts& p) { std::swap(p.r, p.s); },
    [](EcdsaParts& p) { p.SetX(BytesOf(Big(kP + TestRng().Below(977)))); },
    [](EcdsaParts& p) { p.SetX(Largest()); },
    [](EcdsaParts& p) { std::fill(p.full.begin() + 33, p.full.end(), 0xff); }, // y of p or more
    [](EcdsaParts& p) {                                                        // the negated key
        p.key[0] ^= 1;
        const Hash32 y = BytesOf(Big(kP - BigOf(ByteSpan(p.full).last(32))));
        std::ranges::copy(y, p.full.begin() + 33);
    },
    [](EcdsaParts& p) { p.message = BytesOf(Big(kN - BigOf(p.message) % kN)); },
    [](EcdsaParts& p) { p.message = {}; },
    [](EcdsaParts& p) { p.s = BytesOf(Big(kN - BigOf(p.s))); }, // high s: valid
    [](EcdsaParts& p) { p.full[0] = static_cast<uint8_t>(6 + p.full[64] % 2); },
    [](EcdsaParts&) {},
};

CompressedKey CompressedOf(const UncompressedKey& full)
{
    CompressedKey key;
    key[0] = static_cast<uint8_t>(2 + full[64] % 2);
    std::copy_n(full.begin() + 1, 32, key.begin() + 1);
    return key;
}

/** Checks of one signature: as it was made, and twice changed in one way. */
constexpr size_t kChecksOfOne = 3;

/** In any form of key. */
void AddRandomEcdsa(Checks& checks, const Signer& signer)
{
    const Hash32 secret = Random32();
    EcdsaParts made{Random32(), {}, {}, signer.UncompressedPublicKey(secret), {}};
    made.key = CompressedOf(made.full);
    const CompactSignature compact = *ParseLaxDer(signer.SignEcdsa(secret, made.message));
    std::copy_n(compact.begin(), 32, made.r.begin());
    std::copy_n(compact.begin() + 32, 32, made.s.begin());
    for (size_t i = 0; i < kChecksOfOne; ++i) {
        EcdsaParts parts = made;
        if (i > 0) kChanges[TestRng().Below(std::size(kChanges))](parts);
        checks.Ecdsa(TestRng().Below(2) == 0 ? ByteSpan(parts.full) : ByteSpan(parts.key),
                     Der(parts.r, parts.s), parts.message);
    }
}

/** One of eleven changes, or none. */
void AddSchnorr(Checks& checks, const Signer& signer, Hash32 message, SchnorrSignature signature,
                XOnlyKey key)
{
    const auto set = [&](size_t begin, const Hash32& number) {
        std::ranges::copy(number, signature.begin() + static_cast<std::ptrdiff_t>(begin));
    };
    switch (TestRng().Below(24)) {
    case 0: Spoil(message, 0, 32); break;
    case 1: Spoil(signature, 0, 32); break;
    case 2: Spoil(signature, 32, 64); break;
    case 3: Spoil(key, 0, 32); break;
    case 4: set(TestRng().Below(2) * 32, Largest()); break;
    case 5: set(TestRng().Below(2) * 32, {}); break;
    case 6: set(32, NearOrder()); break;
    case 7: set(32, BytesOf(Big(kN - BigOf(ByteSpan(signature).last(32))))); break;
    case 8: set(0, BytesOf(Big(kP + TestRng().Below(977)))); break;
    case 9: key = BytesOf(Big(kP + TestRng().Below(977))); break;
    case 10: key = signer.XOnlyPublicKey(Random32()); break;
    default: break;
    }
    checks.Schnorr(key, signature, message);
}

void AddRandomSchnorr(Checks& checks, const Signer& signer)
{
    const Hash32 secret = Random32(), message = Random32();
    const SchnorrSignature signature = signer.SignSchnorr(secret, message);
    const XOnlyKey key = signer.XOnlyPublicKey(secret);
    for (size_t i = 0; i < kChecksOfOne; ++i) AddSchnorr(checks, signer, message, signature, key);
}

void AddRandomTweak(Checks& checks, const Signer& signer)
{
    XOnlyKey internal = signer.XOnlyPublicKey(Random32());
    Hash32 tweak = Random32();
    auto [output, odd] = *TweakXOnlyKey(internal, tweak);
    switch (TestRng().Below(16)) {
    case 0: Spoil(internal, 0, 32); break;
    case 1: Spoil(tweak, 0, 32); break;
    case 2: Spoil(output, 0, 32); break;
    case 3: odd = !odd; break;
    case 4: tweak = NearOrder(); break;
    case 5: tweak = Largest(); break;
    case 6: tweak = {}; break;
    case 7: std::swap(internal, output); break;
    case 8: internal = BytesOf(Big(kP + TestRng().Below(977))); break;
    case 9: output = BytesOf(Big(kP + TestRng().Below(977))); break;
    case 10: // the sum is the internal key itself
        tweak = {};
        output = internal;
        break;
    default: break;
    }
    checks.Tweak(output, odd, internal, tweak);
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

/** Made so that the ladder may meet equal or opposite points: both factors are small multiples of
 *  the same power of two, and the key is G or -G. */
void AddRandomMade(Checks& checks, const Signer& signer)
{
    const auto factor = [](int bits) {
        return Shifted(static_cast<uint8_t>(1 + TestRng().Below(9)), bits);
    };
    const int bits = TestRng().Below(2) == 0 ? 0 : 44;
    const lanes::Scalar u1 = factor(bits);
    lanes::Scalar u2 = factor(bits);
    u2.word[0] += TestRng().Below(2) * 5;
    const lanes::Scalar key = TestRng().Below(2) == 0 ? Small(1) : lanes::Negate(Small(1));
    if (ValueOf(u1) != ValueOf(u2) || key == Small(1)) AddMadeEcdsa(checks, signer, key, u1, u2);
}

/** Adds `count` checks, or one or two more, and has them judged in batches; returns how many are
 *  valid. */
size_t CompareRandom(Checks& checks, const Signer& signer, size_t count)
{
    size_t valid = 0;
    while (count > 0) {
        const size_t batch = std::min<size_t>(count, TestRng().Below(600) + 1);
        while (checks.expected.size() < batch) {
            const uint64_t kind = TestRng().Below(32);
            if (kind < 3) { // one check each, three of each other kind
                AddRandomMade(checks, signer);
            } else if (kind < 6) {
                AddRandomTweak(checks, signer);
            } else if (kind < 16) {
                AddRandomSchnorr(checks, signer);
            } else {
                AddRandomEcdsa(checks, signer);
            }
        }
        valid += checks.Judge();
        count -= batch;
    }
    return valid;
}

} // namespace

TEST_CASE("signature batch: verdicts equal libsecp256k1's, whichever part is changed")
{
    constexpr size_t kCount = 4'000;
    Checks checks({lanes::IfmaVerifier(), lanes::Avx2Verifier(), nullptr});
    const size_t valid = CompareRandom(checks, Signer(), kCount);
    CHECK(valid > kCount / 4);
    CHECK(valid < kCount * 9 / 10);
}

// Run by hand (doc/develop/differential.md). A part has its own seed, so that parts can run at
// different times and on different machines.
TEST_CASE("signature parts: the long comparison with libsecp256k1", "[.long]")
{
    constexpr size_t kPart = 100'000;
    const char* const text = std::getenv("IBD_SIGNATURE_PARTS");
    unsigned first = 0, last = 0;
    if (text == nullptr || std::sscanf(text, "%u-%u", &first, &last) != 2 || last < first) {
        FAIL("set IBD_SIGNATURE_PARTS=first-last; a part is 100,000 signatures");
    }
    const char* const only = std::getenv("IBD_SIGNATURE_LANES");
    const auto verifier = [only](std::string_view name, lanes::VerifyFunction lanes) {
        return only == nullptr || only == name ? lanes : nullptr;
    };
    const auto ifma = verifier("avx512ifma", lanes::IfmaVerifier());
    const auto avx2 = verifier("avx2", lanes::Avx2Verifier());
    if (ifma == nullptr && avx2 == nullptr) FAIL("this processor has no lanes to compare");
    const Signer signer;
    size_t valid = 0;
    for (unsigned part = first; part <= last; ++part) {
        TestRng() = sim::Rng(part);
        Checks checks;
        checks.batches.clear();
        for (const auto lanes : {ifma, avx2}) {
            if (lanes != nullptr) checks.batches.emplace_back(LanesMode::kOn, lanes);
        }
        valid += CompareRandom(checks, signer, kPart);
        std::cout << "part " << part << ": no difference; " << (part - first + 1) * kPart
                  << " signatures so far, " << valid << " of them valid" << std::endl;
    }
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
    CHECK(checks.unsure == 0);
    CHECK(std::vector<bool>{} == checks.batches[0].Decide());
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
    CHECK(checks.unsure > 0);
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
            for (uint8_t number = 0; number < 4; ++number) {
                const Hash32 tweak = BytesOf(Small(number));
                checks.Tweak(x, number % 2 != 0, x, tweak);
                checks.Tweak(
                    signer.XOnlyPublicKey(BytesOf(Small(static_cast<uint8_t>(number + 1)))), false,
                    x, tweak);
            }
            // the key's own secret as the tweak: doubled, or infinity
            checks.Tweak(x, false, x, BytesOf(key_secret));
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
    lanes::VerifyOn<lanes::Secp256k1>(jobs, verdicts);
    verdicts.back() = verdicts.back() == lanes::Verdict::kValid ? lanes::Verdict::kInvalid
                                                                : lanes::Verdict::kValid;
}

} // namespace

TEST_CASE("signature batch: the look at the processor finds lanes that compute wrongly")
{
    CHECK(LanesAgree(lanes::VerifyOn<lanes::Secp256k1>));
    CHECK(LanesAgree());
    CHECK(LanesAgree(lanes::Avx2Verifier()));
    CHECK(LanesAgree(nullptr));
    CHECK_FALSE(LanesAgree(AlwaysValid));
    CHECK_FALSE(LanesAgree(SometimesWrong));
    CHECK(UsableLanes(LanesMode::kOn, AlwaysValid).mode == LanesMode::kOff);
    CHECK(UsableLanes(LanesMode::kOn, AlwaysValid).warning != nullptr);
    for (const LanesMode mode : {LanesMode::kOn, LanesMode::kCheck, LanesMode::kOff}) {
        const LanesChoice usable = UsableLanes(mode, lanes::VerifyOn<lanes::Secp256k1>);
        CHECK(usable.mode == mode);
        CHECK(usable.warning == nullptr);
        const LanesChoice without = UsableLanes(mode, nullptr);
        CHECK(without.mode == LanesMode::kOff);
        CHECK((without.warning != nullptr) == (mode == LanesMode::kCheck));
    }
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

// ECDSA takes x modulo n. With recovery a key is found for which x of the point is r + n.
TEST_CASE("signature batch: an r that stands for an x of n or more")
{
    const Hash32 message = Random32(), s = BytesOf(Small(77));
    Checks checks;
    for (uint8_t low = 1; low < 200; ++low) {
        const Hash32 r = BytesOf(Small(low));
        for (uint8_t number = 0; number < 4; ++number) { // 2 and 3: x is r + n
            Bytes signature = {static_cast<uint8_t>(31 + number)};
            Append(signature, r);
            Append(signature, s);
            const auto key = RecoverPublicKey(signature, message);
            if (!key) continue;
            checks.Ecdsa(*key, Der(r, s), message);
            checks.Ecdsa(*key, Der(BytesOf(Small(static_cast<uint8_t>(low + 1))), s), message);
        }
    }
    const size_t made = checks.expected.size();
    CHECK(made > 200);
    CHECK(checks.Judge() == made / 2);
    CHECK(checks.unsure >= made); // by lanes with checked arithmetic, at least
}

// The point Q + u G has a known signature whatever point Q is: r = s = its x, message = u r.
TEST_CASE("signature batch: a key whose x is small, and the same with p added")
{
    Checks checks;
    size_t keys = 0;
    for (uint8_t x = 1; x < 100; ++x) {
        XOnlyKey small{};
        small[31] = x;
        const Hash32 u = Random32();
        const auto sum = TweakXOnlyKey(small, u);
        if (!sum) continue; // not on the curve
        ++keys;
        const lanes::Scalar r = lanes::ScalarFromBytes(sum->first.data(), nullptr);
        const Hash32 message =
            BytesOf(lanes::Multiply(r, lanes::ScalarFromBytes(u.data(), nullptr)));
        Bytes key = {2};
        Append(key, small);
        checks.Ecdsa(key, Der(BytesOf(r), BytesOf(r)), message);
        const Hash32 large = BytesOf(Big(kP + x));
        key.resize(1);
        Append(key, large);
        checks.Ecdsa(key, Der(BytesOf(r), BytesOf(r)), message);
        SchnorrSignature schnorr{};
        checks.Schnorr(large, schnorr, message);
        checks.Schnorr(small, schnorr, message);
    }
    CHECK(keys > 20);
    CHECK(checks.Judge() == keys);
}

} // namespace ibd
