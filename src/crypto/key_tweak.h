// Adds a number to a secret or public key, for the derivation of BIP32 children. Pure; any thread.
#pragma once

#include "crypto/secp256k1.h"

namespace ibd {

/** public_key + tweak*G; nothing: an invalid key or tweak, or the sum is the point at infinity. */
std::optional<CompressedKey> AddToPublicKey(const CompressedKey& public_key, const Hash32& tweak);

/** The secret of AddToPublicKey(PublicKey(secret), tweak); nothing if that has none. */
std::optional<Hash32> AddToSecret(const Hash32& secret, const Hash32& tweak);

} // namespace ibd
