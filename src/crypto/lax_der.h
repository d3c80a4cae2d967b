// The bytes of r and s in an ECDSA signature; the parsing half of ParseLaxDer (secp256k1.h).
#pragma once

#include "crypto/secp256k1.h"

namespace ibd {

/** r and s as they stand, both zero when either is longer than 32 bytes without leading zeros;
 *  false when the signature does not parse. Range against the group order is not judged. */
bool SplitLaxDer(ByteSpan signature, CompactSignature& out);

} // namespace ibd
