// SHA-1 (FIPS 180-4), for OP_SHA1 only; broken as a collision-resistant hash. Values only.
#pragma once

#include "util/bytes.h"

#include <array>

namespace ibd {

using Hash20 = std::array<uint8_t, 20>;

/** SHA-1 of the bytes. */
Hash20 Sha1Of(ByteSpan data);

} // namespace ibd
