// ECDSA signatures as wallets make them: r and s of 32 bytes at most. Pure; any thread.
#pragma once

#include "crypto/secp256k1.h"

namespace ibd {

/** DER, without hash type; at most 70 bytes. Nonces are deterministic (RFC 6979), the first whose r
 *  is below half its range. CHECKs that the secret is one. */
Bytes SignEcdsaLowR(const Hash32& secret, const Hash32& message);

} // namespace ibd
