// The bytes of r and s in an ECDSA signature; the parsing half of ParseLaxDer (secp256k1.h).
#pragma once

#include "util/bytes.h"

#include <array>

namespace ibd {

/** r and s, 32 big-endian bytes each. */
using CompactSignature = std::array<uint8_t, 64>;

/** r and s as stored; both zero if either is longer than 32 bytes without leading zeros. False: the
 *  signature does not parse. The range of the group order is not checked. */
bool SplitLaxDer(ByteSpan signature, CompactSignature& out);

} // namespace ibd
