// SHA3-256 (FIPS 202): the checksum of Tor's version 3 addresses. A pure function; any thread.
#pragma once

#include "crypto/sha256.h"

namespace ibd {

/** SHA3-256 of the bytes. */
Hash32 Sha3Of(ByteSpan data);

} // namespace ibd
