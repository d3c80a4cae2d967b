// Signatures: BIP340 and Wycheproof vectors, the lax reading of DER, and signing.
#include "crypto/secp256k1.h"
#include "crypto/signature_batch.h"

#include "support/testdata.h"
#include "util/hex.h"

#include <algorithm>
#include <sstream>

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

template <size_t N>
std::array<uint8_t, N> FixedHex(std::string_view hex)
{
    const auto bytes = FromHex(hex);
    REQUIRE(bytes);
    REQUIRE(bytes->size() == N);
    std::array<uint8_t, N> out;
    std::ranges::copy(*bytes, out.begin());
    return out;
}

Hash32 RandomHash()
{
    Hash32 out;
    std::ranges::copy(RandomBytes(32), out.begin());
    return out;
}

Bytes StrictInteger(ByteSpan number)
{
    while (number.size() > 1 && number[0] == 0) number = number.subspan(1);
    Bytes out = {0x02, static_cast<uint8_t>(number.size())};
    if (number[0] & 0x80) {
        ++out[1];
        out.push_back(0);
    }
    Append(out, number);
    return out;
}

/** The one DER encoding of r and s. */
Bytes StrictDer(const CompactSignature& signature)
{
    Bytes body = StrictInteger(ByteSpan(signature).first(32));
    Append(body, StrictInteger(ByteSpan(signature).last(32)));
    Bytes out = {0x30, static_cast<uint8_t>(body.size())};
    Append(out, body);
    return out;
}

Bytes Hex(std::string_view text) { return *FromHex(text); }

/** The last bytes of r and s. */
std::optional<std::pair<int, int>> LaxValues(std::string_view hex)
{
    const auto parsed = ParseLaxDer(Hex(hex));
    if (!parsed) return std::nullopt;
    return std::pair<int, int>((*parsed)[31], (*parsed)[63]);
}

const char* const kOrder = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

} // namespace

TEST_CASE("schnorr: vectors of BIP340")
{
    const auto path = TestData("bips/bip340-test-vectors.csv");
    if (!path) return;
    const Bytes file = ReadTestFile(*path);
    std::istringstream lines{std::string(AsChars(file))};
    std::string line;
    std::getline(lines, line);
    const Signer signer;
    int verified = 0, signed_too = 0;
    while (std::getline(lines, line)) {
        std::vector<std::string> field(1);
        for (const char c : line) {
            if (c == ',')
                field.emplace_back();
            else
                field.back() += c;
        }
        INFO(line);
        const auto key = FixedHex<32>(field[2]);
        const Bytes message = Hex(field[4]);
        const auto signature = FixedHex<64>(field[5]);
        CHECK(VerifySchnorr(key, signature, message) == (field[6] == "TRUE"));
        if (message.size() == 32) {
            SignatureBatch batch(LanesMode::kOn);
            batch.AddSchnorr(key, signature, FixedHex<32>(field[4]));
            CHECK(batch.Decide()[0] == (field[6] == "TRUE"));
        }
        ++verified;
        if (field[1].empty() || message.size() != 32) continue;
        const auto secret = FixedHex<32>(field[1]);
        CHECK(signer.XOnlyPublicKey(secret) == key);
        CHECK(signer.SignSchnorr(secret, FixedHex<32>(field[4]), FixedHex<32>(field[3])) ==
              signature);
        ++signed_too;
    }
    CHECK(verified >= 19);
    CHECK(signed_too >= 4);
}

TEST_CASE("ecdsa: Wycheproof's vectors for Bitcoin")
{
    const auto path = TestData("core/ecdsa_secp256k1_sha256_bitcoin_test.json.xz");
    if (!path) return;
    const UniValue root = ReadTestJson(*path);
    const UniValue& groups = root["testGroups"];
    size_t valid = 0, invalid = 0;
    SignatureBatch batch(LanesMode::kOn);
    std::vector<bool> single;
    for (size_t g = 0; g < groups.size(); ++g) {
        const Bytes key = Hex(groups[g]["publicKey"]["uncompressed"].get_str());
        const UniValue& tests = groups[g]["tests"];
        for (size_t t = 0; t < tests.size(); ++t) {
            INFO(tests[t].write());
            const Bytes signature = Hex(tests[t]["sig"].get_str());
            const Hash32 message = Sha256Of(Hex(tests[t]["msg"].get_str()));
            const auto parsed = ParseLaxDer(signature);
            const bool strict = parsed && StrictDer(*parsed) == signature;
            const bool accepted =
                strict && IsLowS(signature) && VerifyEcdsa(key, signature, message);
            batch.AddEcdsa(key, signature, message);
            single.push_back(VerifyEcdsa(key, signature, message));
            const bool want = tests[t]["result"].get_str() == "valid";
            CHECK(accepted == want);
            ++(want ? valid : invalid);
        }
    }
    CHECK(valid > 100);
    CHECK(invalid > 100);
    CHECK(batch.Decide() == single);
}

TEST_CASE("lax DER: accepted and refused signatures")
{
    using Values = std::pair<int, int>;
    CHECK(LaxValues("3006020101020102") == Values{1, 2});
    CHECK(LaxValues("3000020101020102") == Values{1, 2});     // sequence length ignored
    CHECK(LaxValues("3082ffff020101020102") == Values{1, 2}); // also in long form
    CHECK(LaxValues("300602010102010299") == Values{1, 2});   // bytes after s
    CHECK(LaxValues("300802020001020102") == Values{1, 2});   // leading zero
    CHECK(LaxValues("300a02810101028300000102") == Values{1, 2});
    CHECK(LaxValues("300802810101020102") == Values{1, 2}); // long form of a short length
    CHECK(LaxValues("300c028700000000000001010201020000") == Values{1, 2});
    CHECK(LaxValues("30060200020102") == Values{0, 2});         // empty integer
    CHECK(LaxValues("30060201ff020180") == Values{0xff, 0x80}); // "negative" is unsigned
    CHECK(LaxValues("") == std::nullopt);
    CHECK(LaxValues("30") == std::nullopt);
    CHECK(LaxValues("3106020101020102") == std::nullopt); // not a sequence
    CHECK(LaxValues("3006030101020102") == std::nullopt); // not an integer
    CHECK(LaxValues("3006020101030102") == std::nullopt);
    CHECK(LaxValues("30060201010201") == std::nullopt); // s cut off
    CHECK(LaxValues("300602010102") == std::nullopt);
    CHECK(LaxValues("3006020101") == std::nullopt);
    CHECK(LaxValues("30060205010201") == std::nullopt);   // r longer than the rest
    CHECK(LaxValues("3082ff") == std::nullopt);           // length bytes missing
    CHECK(LaxValues("3006028401000000") == std::nullopt); // length of four bytes
    CHECK(LaxValues("30060283ffffff01") == std::nullopt);
}

TEST_CASE("lax DER: numbers out of range parse to a signature that never verifies")
{
    const std::string order = kOrder;
    for (const std::string& big :
         {"022100" + order, "022101" + std::string(64, '0'), "0220" + std::string(64, 'f')}) {
        const auto r_big = ParseLaxDer(Hex("3026" + big + "020101"));
        const auto s_big = ParseLaxDer(Hex("3026020101" + big));
        REQUIRE(r_big);
        REQUIRE(s_big);
        CHECK(*r_big == CompactSignature{});
        CHECK(*s_big == CompactSignature{});
    }
    // 34 bytes of which the first are zero are in range.
    CHECK(LaxValues("30290222" + std::string(66, '0') + "05020107") == std::pair{5, 7});
}

TEST_CASE("ecdsa: what was signed verifies, with low and with high s, and nothing else")
{
    const Signer signer;
    for (int i = 0; i < 20; ++i) {
        const Hash32 secret = RandomHash();
        const Hash32 message = RandomHash();
        const Bytes signature = signer.SignEcdsa(secret, message);
        const CompressedKey key = signer.PublicKey(secret);
        UncompressedKey full = signer.UncompressedPublicKey(secret);
        CHECK(VerifyEcdsa(key, signature, message));
        CHECK(VerifyEcdsa(full, signature, message));
        CHECK(IsLowS(signature));
        CHECK(StrictDer(*ParseLaxDer(signature)) == signature);
        CHECK_FALSE(VerifyEcdsa(key, signature, RandomHash()));
        CHECK_FALSE(VerifyEcdsa(signer.PublicKey(RandomHash()), signature, message));

        // order - s, by schoolbook subtraction
        CompactSignature high = *ParseLaxDer(signature);
        const auto order = FixedHex<32>(kOrder);
        int borrow = 0;
        for (size_t j = 32; j-- > 0;) {
            const int digit = order[j] - high[32 + j] - borrow;
            borrow = digit < 0 ? 1 : 0;
            high[32 + j] = static_cast<uint8_t>(digit);
        }
        const Bytes high_signature = StrictDer(high);
        CHECK(VerifyEcdsa(key, high_signature, message));
        CHECK_FALSE(IsLowS(high_signature));

        Bytes broken = signature;
        broken[4 + TestRng()() % 28] ^= 1;
        CHECK_FALSE(VerifyEcdsa(key, broken, message));
        CHECK_FALSE(VerifyEcdsa(key, {}, message));
        CHECK_FALSE(VerifyEcdsa({}, signature, message));
        full[0] = static_cast<uint8_t>(6 + full[64] % 2); // hybrid form with the right parity
        CHECK(VerifyEcdsa(full, signature, message));
        full[0] ^= 1;
        CHECK_FALSE(VerifyEcdsa(full, signature, message));
    }
    CHECK_FALSE(IsLowS(Hex("3006")));
}

TEST_CASE("ecdsa: RFC 6979 signature of a known key")
{
    // Key 1, SHA-256 of "Satoshi Nakamoto": a vector known from many implementations.
    Hash32 secret{};
    secret[31] = 1;
    const Bytes signature = Signer().SignEcdsa(secret, Sha256Of(AsBytes("Satoshi Nakamoto")));
    CHECK(ToHex(signature) ==
          "3045022100934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8"
          "02202442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5");
}

TEST_CASE("public keys: validity and decompression")
{
    // The generator.
    const auto g =
        FixedHex<33>("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
    const std::string y = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
    Hash32 one{};
    one[31] = 1;
    const Signer signer;
    CHECK(signer.PublicKey(one) == g);
    const auto full = DecompressPublicKey(g);
    REQUIRE(full);
    CHECK(ToHex(*full) == "04" + ToHex(ByteSpan(g).subspan(1)) + y);
    CHECK(*full == signer.UncompressedPublicKey(one));
    CHECK(IsValidPublicKey(g));
    CHECK(IsValidPublicKey(*full));
    CHECK_FALSE(IsValidPublicKey({}));
    CHECK_FALSE(IsValidPublicKey(ByteSpan(g).first(32)));
    CHECK_FALSE(IsValidPublicKey(ByteSpan(*full).first(33)));
    CompressedKey off_curve = g;
    off_curve[32] = 0x97; // x with no point, and x above the field
    CHECK(IsValidPublicKey(off_curve) == DecompressPublicKey(off_curve).has_value());
    off_curve = {0x02, 0xff, 0xff, 0xff, 0xff};
    std::fill(off_curve.begin() + 1, off_curve.end(), uint8_t{0xff});
    CHECK_FALSE(DecompressPublicKey(off_curve));
    off_curve = g;
    off_curve[0] = 0x04;
    CHECK_FALSE(DecompressPublicKey(off_curve));
    XOnlyKey five{};
    five[31] = 5; // 5^3 + 7 is no square
    CHECK_FALSE(IsValidXOnlyKey(five));
    CHECK(IsValidXOnlyKey(signer.XOnlyPublicKey(one)));
    CHECK_FALSE(Signer::IsValidSecret({}));
    CHECK_FALSE(Signer::IsValidSecret(FixedHex<32>(kOrder)));
    CHECK(Signer::IsValidSecret(one));
}

TEST_CASE("taproot tweaks: key, secret and check agree")
{
    const Signer signer;
    for (int i = 0; i < 20; ++i) {
        const Hash32 secret = RandomHash();
        const Hash32 tweak = RandomHash();
        const XOnlyKey internal = signer.XOnlyPublicKey(secret);
        const auto output = TweakXOnlyKey(internal, tweak);
        REQUIRE(output);
        const auto& [key, odd] = *output;
        CHECK(CheckTaprootTweak(key, odd, internal, tweak));
        CHECK_FALSE(CheckTaprootTweak(key, !odd, internal, tweak));
        CHECK_FALSE(CheckTaprootTweak(key, odd, key, tweak));
        CHECK_FALSE(CheckTaprootTweak(key, odd, internal, RandomHash()));
        const auto tweaked = signer.TweakSecret(secret, tweak);
        REQUIRE(tweaked);
        CHECK(signer.XOnlyPublicKey(*tweaked) == key);
        const Hash32 message = RandomHash();
        CHECK(VerifySchnorr(key, signer.SignSchnorr(*tweaked, message), message));
    }
    XOnlyKey bad{};
    CHECK_FALSE(TweakXOnlyKey(bad, {}));
    CHECK_FALSE(CheckTaprootTweak(bad, false, bad, {}));
    const auto order = FixedHex<32>(kOrder);
    const Hash32 secret = RandomHash();
    CHECK_FALSE(TweakXOnlyKey(signer.XOnlyPublicKey(secret), order));
    CHECK_FALSE(signer.TweakSecret(secret, order));
}

TEST_CASE("a signer can be moved")
{
    Signer first;
    const Hash32 secret = RandomHash();
    const CompressedKey key = first.PublicKey(secret);
    Signer second = std::move(first);
    CHECK(second.PublicKey(secret) == key);
    first = std::move(second);
    CHECK(first.PublicKey(secret) == key);
}

} // namespace ibd
