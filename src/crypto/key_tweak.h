// Adding a number to a key, secret or public: how BIP32 derives children. Pure; any thread.
#pragma once

#include "crypto/secp256k1.h"

namespace ibd {

/** public_key + tweak*G; nothing for an invalid key or tweak, or where the sum is the point at
 *  infinity. */
std::optional<CompressedKey> AddToPublicKey(const CompressedKey& public_key, const Hash32& tweak);

/** The secret of AddToPublicKey(PublicKey(secret), tweak); nothing when that has none. */
std::optional<Hash32> AddToSecret(const Hash32& secret, const Hash32& tweak);

} // namespace ibd
