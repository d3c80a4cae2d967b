// ECDSA signatures from which the public key can be recovered, for signed messages. Pure; any
// thread.
#pragma once

#include "crypto/secp256k1.h"

namespace ibd {

/** 27 plus the recovery number 0 to 3, plus 4 for a compressed key; then r and s, 32 big-endian
 *  bytes each. */
using RecoverableSignature = std::array<uint8_t, 65>;

/** Deterministic (RFC 6979), low s. CHECKs that the secret is valid. */
RecoverableSignature SignRecoverable(const Hash32& secret, const Hash32& message, bool compressed);

/** The key, of 33 or 65 bytes, that made the signature; nothing if none exists. */
std::optional<Bytes> RecoverPublicKey(ByteSpan signature, const Hash32& message);

} // namespace ibd
