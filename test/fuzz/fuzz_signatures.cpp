// Batches of signatures against libsecp256k1: the same verdicts for any keys, signatures and
// messages, raw or made of small numbers, for which the lanes meet equal and opposite points.
#include "crypto/signature_batch.h"
#include "primitives/serialize.h"
#include "util/check.h"

using namespace ibd;

namespace {

/** Zeros and two bytes: the byte at one end, and its sign. */
Hash32 SmallNumber(Reader& reader)
{
    Hash32 out{};
    out[31] = reader.U8();
    out[reader.U8() % 32] ^= reader.U8();
    return out;
}

Hash32 Number(Reader& reader, bool small)
{
    if (small) return SmallNumber(reader);
    Hash32 out{};
    for (uint8_t& byte : out) byte = reader.U8();
    return out;
}

struct Checks {
    SignatureBatch batch{LanesMode::kOn};
    std::vector<bool> expected;

    void Ecdsa(ByteSpan key, ByteSpan der, const Hash32& message)
    {
        batch.AddEcdsa(key, der, message);
        expected.push_back(VerifyEcdsa(key, der, message));
    }
    void Schnorr(const XOnlyKey& key, const SchnorrSignature& signature, const Hash32& message)
    {
        batch.AddSchnorr(key, signature, message);
        expected.push_back(VerifySchnorr(key, signature, message));
    }
    void Tweak(const XOnlyKey& output, bool odd, const XOnlyKey& internal, const Hash32& tweak)
    {
        batch.AddTweak(output, odd, internal, tweak);
        expected.push_back(CheckTaprootTweak(output, odd, internal, tweak));
    }
};

/** A key with a known secret, and a signature that is valid until a byte of it changes. */
void AddSigned(Checks& checks, Reader& reader, const Signer& signer)
{
    const uint8_t how = reader.U8();
    const Hash32 secret = Number(reader, (how & 1) != 0);
    const Hash32 message = Number(reader, (how & 2) != 0);
    if (!Signer::IsValidSecret(secret)) return;
    const uint8_t at = reader.U8(), change = reader.U8();
    if ((how & 4) != 0) {
        SchnorrSignature signature = signer.SignSchnorr(secret, message);
        signature[at % signature.size()] ^= change;
        checks.Schnorr(signer.XOnlyPublicKey(secret), signature, message);
        return;
    }
    Bytes der = signer.SignEcdsa(secret, message);
    der[at % der.size()] ^= change;
    if ((how & 8) != 0) {
        checks.Ecdsa(signer.UncompressedPublicKey(secret), der, message);
    } else {
        checks.Ecdsa(signer.PublicKey(secret), der, message);
    }
}

void AddRaw(Checks& checks, Reader& reader)
{
    const ByteSpan key = reader.VarBytes();
    const ByteSpan signature = reader.VarBytes();
    const Hash32 message = Number(reader, reader.U8() % 2 != 0);
    if (key.size() != 32 || signature.size() != 64) return checks.Ecdsa(key, signature, message);
    XOnlyKey x;
    SchnorrSignature numbers;
    std::copy(key.begin(), key.end(), x.begin());
    std::copy(signature.begin(), signature.end(), numbers.begin());
    checks.Schnorr(x, numbers, message);
}

/** r, s and message of small numbers, under the key of a small secret or its opposite. */
void AddSmall(Checks& checks, Reader& reader, const Signer& signer)
{
    const Hash32 secret = SmallNumber(reader), s = SmallNumber(reader),
                 message = SmallNumber(reader), of_r = SmallNumber(reader);
    if (!Signer::IsValidSecret(secret) || !Signer::IsValidSecret(of_r)) return;
    CompressedKey key = signer.PublicKey(secret);
    key[0] ^= reader.U8() & 1;
    Bytes der = {0x30, 70, 0x02, 33, 0};
    Append(der, signer.XOnlyPublicKey(of_r));
    Append(der, Bytes{0x02, 33, 0});
    Append(der, s);
    checks.Ecdsa(key, der, message);
}

/** A commitment that holds until a byte of it changes. */
void AddTweaked(Checks& checks, Reader& reader, const Signer& signer)
{
    const uint8_t how = reader.U8();
    const Hash32 secret = Number(reader, (how & 1) != 0);
    Hash32 tweak = Number(reader, (how & 2) != 0);
    if (!Signer::IsValidSecret(secret)) return;
    const XOnlyKey internal = signer.XOnlyPublicKey(secret);
    const auto sum = TweakXOnlyKey(internal, tweak);
    const XOnlyKey output = sum ? sum->first : internal;
    tweak[reader.U8() % tweak.size()] ^= reader.U8();
    checks.Tweak(output, (how & 4) != 0, internal, tweak);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    constexpr size_t kMost = 80; // more than one round of groups
    static const Signer signer;
    Reader reader(ByteSpan(data, size));
    Checks checks;
    while (reader.Ok() && reader.Remaining() > 0 && checks.expected.size() < kMost) {
        switch (reader.U8() % 4) {
        case 0: AddSigned(checks, reader, signer); break;
        case 1: AddRaw(checks, reader); break;
        case 3: AddTweaked(checks, reader, signer); break;
        default: AddSmall(checks, reader, signer); break;
        }
    }
    CHECK(checks.batch.Decide() == checks.expected);
    return 0;
}
