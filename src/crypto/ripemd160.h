// RIPEMD-160 (Dobbertin, Bosselaers, Preneel 1996) and Bitcoin's HASH160. Values only.
#pragma once

#include "crypto/sha1.h"

namespace ibd {

/** RIPEMD-160 of the bytes (OP_RIPEMD160). */
Hash20 Ripemd160Of(ByteSpan data);

/** RIPEMD-160 of SHA-256 of the bytes: key and script hashes in addresses (OP_HASH160). */
Hash20 Hash160(ByteSpan data);

} // namespace ibd
