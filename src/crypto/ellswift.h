// ElligatorSwift (BIP324): public keys in 64 bytes that are indistinguishable from random ones, and
// the shared secret of two peers. Pure functions; any thread.
#pragma once

#include "crypto/sha256.h"

namespace ibd {

using EllSwiftKey = std::array<uint8_t, 64>;

/** The public key of `secret`, which must be valid (Signer::IsValidSecret). `entropy`: 32 random
 *  bytes that choose one of its many encodings. */
EllSwiftKey MakeEllSwiftKey(const Hash32& secret, const Hash32& entropy);

/** The x-only ECDH secret of BIP324. Every 64-byte string is a valid key. */
Hash32 EllSwiftSharedSecret(const Hash32& our_secret, const EllSwiftKey& ours,
                            const EllSwiftKey& theirs, bool initiator);

} // namespace ibd
