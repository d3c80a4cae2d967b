// ECDSA signatures as wallets make them: r and s take at most 32 bytes. Pure; any thread.
#pragma once

#include "crypto/secp256k1.h"

namespace ibd {

/** DER, without hash type; at most 70 bytes. Nonces are deterministic (RFC 6979): the first one
 *  whose r is below half its range. CHECKs that the secret is valid. */
Bytes SignEcdsaLowR(const Hash32& secret, const Hash32& message);

} // namespace ibd
