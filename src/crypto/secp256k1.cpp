// See secp256k1.h.
#include "crypto/secp256k1.h"

#include "crypto/lax_der.h"
#include "util/check.h"

#include <secp256k1.h>
#include <secp256k1_extrakeys.h>
#include <secp256k1_schnorrsig.h>

namespace ibd {

namespace {

/** Sufficient for every check; immutable, so all threads share it. */
const secp256k1_context* Checks() { return secp256k1_context_static; }

/** Values out of range become all zero, which parses but never verifies. */
void LoadSignature(CompactSignature compact, secp256k1_ecdsa_signature& out)
{
    if (!secp256k1_ecdsa_signature_parse_compact(Checks(), &out, compact.data())) {
        compact.fill(0);
        CHECK(secp256k1_ecdsa_signature_parse_compact(Checks(), &out, compact.data()) == 1);
    }
}

bool ParseSignature(ByteSpan der, secp256k1_ecdsa_signature& out)
{
    CompactSignature compact;
    if (!SplitLaxDer(der, compact)) return false;
    LoadSignature(compact, out);
    return true;
}

bool ParsePublicKey(ByteSpan bytes, secp256k1_pubkey& out)
{
    return !bytes.empty() &&
           secp256k1_ec_pubkey_parse(Checks(), &out, bytes.data(), bytes.size()) == 1;
}

bool ParseXOnly(const XOnlyKey& key, secp256k1_xonly_pubkey& out)
{
    return secp256k1_xonly_pubkey_parse(Checks(), &out, key.data()) == 1;
}

template <size_t N>
std::array<uint8_t, N> SerializeKey(const secp256k1_pubkey& key, unsigned int form)
{
    std::array<uint8_t, N> out;
    size_t size = N;
    CHECK(secp256k1_ec_pubkey_serialize(Checks(), out.data(), &size, &key, form) == 1);
    CHECK(size == N);
    return out;
}

XOnlyKey SerializeXOnly(const secp256k1_xonly_pubkey& key)
{
    XOnlyKey out;
    CHECK(secp256k1_xonly_pubkey_serialize(Checks(), out.data(), &key) == 1);
    return out;
}

secp256k1_pubkey MakePublicKey(const secp256k1_context* context, const Hash32& secret)
{
    secp256k1_pubkey key;
    CHECK(secp256k1_ec_pubkey_create(context, &key, secret.data()) == 1);
    return key;
}

secp256k1_keypair MakeKeyPair(const secp256k1_context* context, const Hash32& secret)
{
    secp256k1_keypair pair;
    CHECK(secp256k1_keypair_create(context, &pair, secret.data()) == 1);
    return pair;
}

} // namespace

std::optional<CompactSignature> ParseLaxDer(ByteSpan signature)
{
    secp256k1_ecdsa_signature parsed;
    if (!ParseSignature(signature, parsed)) return std::nullopt;
    CompactSignature compact;
    secp256k1_ecdsa_signature_serialize_compact(Checks(), compact.data(), &parsed);
    return compact;
}

bool VerifyEcdsa(ByteSpan public_key, ByteSpan der_signature, const Hash32& message)
{
    CompactSignature compact;
    return SplitLaxDer(der_signature, compact) &&
           VerifyCompactEcdsa(public_key, compact, message);
}

bool VerifyCompactEcdsa(ByteSpan public_key, const CompactSignature& compact,
                        const Hash32& message)
{
    secp256k1_pubkey key;
    secp256k1_ecdsa_signature signature;
    if (!ParsePublicKey(public_key, key)) return false;
    LoadSignature(compact, signature);
    // libsecp256k1 accepts only low s, but consensus also accepts high s.
    secp256k1_ecdsa_signature_normalize(Checks(), &signature, &signature);
    return secp256k1_ecdsa_verify(Checks(), &signature, message.data(), &key) == 1;
}

bool IsLowS(ByteSpan der_signature)
{
    secp256k1_ecdsa_signature signature;
    if (!ParseSignature(der_signature, signature)) return false;
    return secp256k1_ecdsa_signature_normalize(Checks(), nullptr, &signature) == 0;
}

bool VerifySchnorr(const XOnlyKey& public_key, const SchnorrSignature& signature, ByteSpan message)
{
    secp256k1_xonly_pubkey key;
    if (!ParseXOnly(public_key, key)) return false;
    return secp256k1_schnorrsig_verify(Checks(), signature.data(), message.data(), message.size(),
                                       &key) == 1;
}

bool CheckTaprootTweak(const XOnlyKey& output_key, bool odd, const XOnlyKey& internal_key,
                       const Hash32& tweak)
{
    secp256k1_xonly_pubkey internal;
    if (!ParseXOnly(internal_key, internal)) return false;
    return secp256k1_xonly_pubkey_tweak_add_check(Checks(), output_key.data(), odd ? 1 : 0,
                                                  &internal, tweak.data()) == 1;
}

std::optional<std::pair<XOnlyKey, bool>> TweakXOnlyKey(const XOnlyKey& internal_key,
                                                       const Hash32& tweak)
{
    secp256k1_xonly_pubkey internal;
    secp256k1_pubkey tweaked;
    if (!ParseXOnly(internal_key, internal)) return std::nullopt;
    if (!secp256k1_xonly_pubkey_tweak_add(Checks(), &tweaked, &internal, tweak.data())) {
        return std::nullopt;
    }
    secp256k1_xonly_pubkey output;
    int odd = 0;
    CHECK(secp256k1_xonly_pubkey_from_pubkey(Checks(), &output, &odd, &tweaked) == 1);
    return std::pair(SerializeXOnly(output), odd == 1);
}

bool IsValidPublicKey(ByteSpan public_key)
{
    secp256k1_pubkey key;
    return ParsePublicKey(public_key, key);
}

bool IsValidXOnlyKey(const XOnlyKey& key)
{
    secp256k1_xonly_pubkey parsed;
    return ParseXOnly(key, parsed);
}

std::optional<UncompressedKey> DecompressPublicKey(const CompressedKey& key)
{
    secp256k1_pubkey parsed;
    if (!ParsePublicKey(key, parsed)) return std::nullopt;
    return SerializeKey<65>(parsed, SECP256K1_EC_UNCOMPRESSED);
}

bool Signer::IsValidSecret(const Hash32& secret)
{
    return secp256k1_ec_seckey_verify(Checks(), secret.data()) == 1;
}

CompressedKey Signer::PublicKey(const Hash32& secret) const
{
    return SerializeKey<33>(MakePublicKey(m_context.get(), secret), SECP256K1_EC_COMPRESSED);
}

UncompressedKey Signer::UncompressedPublicKey(const Hash32& secret) const
{
    return SerializeKey<65>(MakePublicKey(m_context.get(), secret), SECP256K1_EC_UNCOMPRESSED);
}

XOnlyKey Signer::XOnlyPublicKey(const Hash32& secret) const
{
    const CompressedKey key = PublicKey(secret);
    XOnlyKey out;
    std::memcpy(out.data(), key.data() + 1, out.size());
    return out;
}

Bytes Signer::SignEcdsa(const Hash32& secret, const Hash32& message) const
{
    secp256k1_ecdsa_signature signature;
    CHECK(secp256k1_ecdsa_sign(m_context.get(), &signature, message.data(), secret.data(),
                               secp256k1_nonce_function_rfc6979, nullptr) == 1);
    Bytes out(72);
    size_t size = out.size();
    CHECK(secp256k1_ecdsa_signature_serialize_der(Checks(), out.data(), &size, &signature) == 1);
    out.resize(size);
    return out;
}

SchnorrSignature Signer::SignSchnorr(const Hash32& secret, const Hash32& message,
                                     const Hash32& randomness) const
{
    const secp256k1_keypair pair = MakeKeyPair(m_context.get(), secret);
    SchnorrSignature out;
    CHECK(secp256k1_schnorrsig_sign32(m_context.get(), out.data(), message.data(), &pair,
                                      randomness.data()) == 1);
    return out;
}

std::optional<Hash32> Signer::TweakSecret(const Hash32& secret, const Hash32& tweak) const
{
    secp256k1_keypair pair = MakeKeyPair(m_context.get(), secret);
    if (!secp256k1_keypair_xonly_tweak_add(m_context.get(), &pair, tweak.data())) {
        return std::nullopt;
    }
    Hash32 out;
    CHECK(secp256k1_keypair_sec(m_context.get(), out.data(), &pair) == 1);
    return out;
}

} // namespace ibd
