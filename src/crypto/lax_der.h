// The bytes of r and s in an ECDSA signature; the parsing half of ParseLaxDer (secp256k1.h).
#pragma once

#include "util/bytes.h"

#include <array>

namespace ibd {

/** r and s, 32 big-endian bytes each. */
using CompactSignature = std::array<uint8_t, 64>;

/** r and s as they stand, both zero when either is longer than 32 bytes without leading zeros;
 *  false when the signature does not parse. Range against the group order is not judged. */
bool SplitLaxDer(ByteSpan signature, CompactSignature& out);

} // namespace ibd
