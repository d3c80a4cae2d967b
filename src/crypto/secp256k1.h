// Elliptic-curve signatures over secp256k1: the consensus checks (ECDSA, BIP340, BIP341 tweaks)
// and signing, for RPC calls, tests and the chain generator. Sole user of libsecp256k1.
// Checks are pure functions on an immutable context, safe on any thread. A Signer is safe to share
// const between threads.
#pragma once

#include "crypto/lax_der.h"
#include "crypto/sha256.h"

#include <memory>
#include <optional>
#include <utility>

struct secp256k1_context_struct;

namespace ibd {

using XOnlyKey = std::array<uint8_t, 32>;
using SchnorrSignature = std::array<uint8_t, 64>;
using CompressedKey = std::array<uint8_t, 33>;
using UncompressedKey = std::array<uint8_t, 65>;

/** Reads an ECDSA signature as consensus did before BIP66 and still does below the DER check:
 *  lengths may be padded, numbers may have leading zeros, bytes after s are ignored. r or s out
 *  of range gives the all-zero signature, which never verifies; nothing when it does not parse. */
std::optional<CompactSignature> ParseLaxDer(ByteSpan signature);

/** ECDSA as OP_CHECKSIG does it: public key of 33 or 65 bytes (hybrid allowed), signature for
 *  ParseLaxDer without the hash-type byte, high s accepted. False for anything malformed. */
bool VerifyEcdsa(ByteSpan public_key, ByteSpan der_signature, const Hash32& message);

/** VerifyEcdsa with r and s as ParseLaxDer gives them. */
bool VerifyCompactEcdsa(ByteSpan public_key, const CompactSignature& signature,
                        const Hash32& message);

/** Whether s is at most half the group order (BIP62 rule, policy and NULLFAIL tests). False when
 *  the signature does not parse. */
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

/** The 65-byte form of a key, as compressed scripts need it; nothing when not on the curve. */
std::optional<UncompressedKey> DecompressPublicKey(const CompressedKey& key);

/** Creates keys and signatures. Deterministic: RFC 6979 nonces, given BIP340 randomness. */
class Signer {
public:
    /** `blinding`: random bytes against side channels; results do not depend on it. */
    explicit Signer(const Hash32& blinding = {});
    ~Signer();
    Signer(Signer&&) noexcept;
    Signer& operator=(Signer&&) noexcept;

    /** Whether the bytes are a secret key: 1 .. order-1. Other functions take only such keys and
     *  CHECK it. */
    static bool IsValidSecret(const Hash32& secret);

    CompressedKey PublicKey(const Hash32& secret) const;
    UncompressedKey UncompressedPublicKey(const Hash32& secret) const;
    XOnlyKey XOnlyPublicKey(const Hash32& secret) const;

    /** DER with low s, without hash type; 70 to 72 bytes, rarely fewer. */
    Bytes SignEcdsa(const Hash32& secret, const Hash32& message) const;

    /** BIP340 with the given auxiliary randomness. */
    SchnorrSignature SignSchnorr(const Hash32& secret, const Hash32& message,
                                 const Hash32& randomness = {}) const;

    /** The secret of TweakXOnlyKey(XOnlyPublicKey(secret), tweak); nothing for an invalid tweak. */
    std::optional<Hash32> TweakSecret(const Hash32& secret, const Hash32& tweak) const;

private:
    struct Deleter {
        void operator()(secp256k1_context_struct* context) const;
    };
    std::unique_ptr<secp256k1_context_struct, Deleter> m_context;
};

} // namespace ibd
