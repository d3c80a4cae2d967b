// Elliptic-curve signatures over secp256k1: the consensus checks (ECDSA, BIP340, BIP341 tweaks) and
// signing, for RPC calls, tests and the chain generator. Checks are pure functions on an immutable
// context, safe on any thread. Threads may share a const Signer.
#pragma once

#include "crypto/lax_der.h"
#include "crypto/sha256.h"
#include "crypto/signing_context.h"

#include <optional>
#include <utility>

namespace ibd {

using XOnlyKey = std::array<uint8_t, 32>;
using SchnorrSignature = std::array<uint8_t, 64>;
using CompressedKey = std::array<uint8_t, 33>;
using UncompressedKey = std::array<uint8_t, 65>;

/** Parses an ECDSA signature as consensus did before BIP66, and still does after the DER check:
 *  lengths may be padded, numbers may have leading zeros, bytes after s are ignored. r or s out of
 *  range gives the all-zero signature, which never verifies. Nothing: it does not parse. */
std::optional<CompactSignature> ParseLaxDer(ByteSpan signature);

/** ECDSA as in OP_CHECKSIG: public key of 33 or 65 bytes (hybrid allowed), signature for
 *  ParseLaxDer without the hash-type byte, high s accepted. False for malformed input. */
bool VerifyEcdsa(ByteSpan public_key, ByteSpan der_signature, const Hash32& message);

/** VerifyEcdsa with r and s from ParseLaxDer. */
bool VerifyCompactEcdsa(ByteSpan public_key, const CompactSignature& signature,
                        const Hash32& message);

/** Whether s is at most half the group order (BIP62 rule, policy and NULLFAIL tests). False if the
 *  signature does not parse. */
bool IsLowS(ByteSpan der_signature);

/** BIP340 over a message of any length (consensus uses 32 bytes). */
bool VerifySchnorr(const XOnlyKey& public_key, const SchnorrSignature& signature, ByteSpan message);

/** Whether output_key = internal_key + tweak*G with the given parity of its y (BIP341). */
bool CheckTaprootTweak(const XOnlyKey& output_key, bool odd, const XOnlyKey& internal_key,
                       const Hash32& tweak);

/** internal_key + tweak*G and whether its y is odd; nothing for an invalid key or tweak. */
std::optional<std::pair<XOnlyKey, bool>> TweakXOnlyKey(const XOnlyKey& internal_key,
                                                       const Hash32& tweak);

/** Whether the bytes (33 or 65, hybrid allowed) encode a point of the curve. */
bool IsValidPublicKey(ByteSpan public_key);

/** Whether the 32 bytes are the x of a point of the curve. */
bool IsValidXOnlyKey(const XOnlyKey& key);

/** The 65-byte form of a key, for compressed scripts; nothing: not on the curve. */
std::optional<UncompressedKey> DecompressPublicKey(const CompressedKey& key);

/** Makes keys and signatures. Deterministic: RFC 6979 nonces, and explicit BIP340 randomness. */
class Signer {
public:
    /** Whether the bytes are a secret key: 1 .. order-1. The other functions CHECK this. */
    static bool IsValidSecret(const Hash32& secret);

    CompressedKey PublicKey(const Hash32& secret) const;
    UncompressedKey UncompressedPublicKey(const Hash32& secret) const;
    XOnlyKey XOnlyPublicKey(const Hash32& secret) const;

    /** DER with low s, without hash type; 70 to 72 bytes, rarely fewer. */
    Bytes SignEcdsa(const Hash32& secret, const Hash32& message) const;

    /** BIP340 with the given auxiliary randomness. */
    SchnorrSignature SignSchnorr(const Hash32& secret, const Hash32& message,
                                 const Hash32& randomness = {}) const;

    /** The secret of TweakXOnlyKey(XOnlyPublicKey(secret), tweak); nothing: an invalid tweak. */
    std::optional<Hash32> TweakSecret(const Hash32& secret, const Hash32& tweak) const;

private:
    SigningContext m_context = MakeSigningContext();
};

} // namespace ibd
