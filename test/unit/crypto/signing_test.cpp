// Signatures that wallets make: recoverable ones, and those with a short r.
#include "crypto/recoverable.h"
#include "crypto/sign_low_r.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

Hash32 Number(uint8_t value)
{
    Hash32 out{};
    out[31] = value;
    return out;
}

Bytes PublicKey(const Hash32& secret, bool compressed)
{
    Bytes out;
    if (compressed) {
        Append(out, Signer().PublicKey(secret));
    } else {
        Append(out, Signer().UncompressedPublicKey(secret));
    }
    return out;
}

} // namespace

TEST_CASE("the key is recovered from the signature", "[signing]")
{
    for (uint8_t i = 1; i < 40; ++i) {
        const Hash32 secret = Number(i), message = Number(static_cast<uint8_t>(i * 5));
        for (const bool compressed : {false, true}) {
            RecoverableSignature signature = SignRecoverable(secret, message, compressed);
            CHECK((signature[0] >= 27 && signature[0] < 27 + 8));
            CHECK(RecoverPublicKey(signature, message) == PublicKey(secret, compressed));
            CHECK(RecoverPublicKey(signature, Number(0)) != PublicKey(secret, compressed));
            CHECK_FALSE(RecoverPublicKey(ByteSpan(signature).first(64), message));
            std::fill(signature.begin() + 1, signature.end(), uint8_t{0xff}); // out of range
            CHECK_FALSE(RecoverPublicKey(signature, message));
        }
    }
}

TEST_CASE("r is short, s is low, and the signature is right", "[signing]")
{
    for (uint8_t i = 1; i < 60; ++i) {
        const Hash32 secret = Number(i), message = Number(static_cast<uint8_t>(i * 3));
        const Bytes signature = SignEcdsaLowR(secret, message);
        CHECK(signature.size() <= 70);
        CHECK(IsLowS(signature));
        CHECK(VerifyEcdsa(PublicKey(secret, true), signature, message));
        // If the plain signature is short, it is the same.
        const Bytes plain = Signer().SignEcdsa(secret, message);
        if (plain[3] <= 32) CHECK(signature == plain);
    }
}

} // namespace ibd::test
