// Base32 (RFC 4648, section 6) in lower case, the encoding of Tor and I2P addresses.
#pragma once

#include "util/bytes.h"

#include <optional>

namespace ibd {

/** Lower case; `pad`: filled with '=' to a multiple of eight characters. */
std::string ToBase32(ByteSpan bytes, bool pad = true);

/** Accepts either case. Nothing: `text` is not a multiple of eight characters, is wrongly padded,
 *  or has nonzero surplus bits. */
std::optional<Bytes> FromBase32(std::string_view text);

} // namespace ibd
