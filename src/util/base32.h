// Base32 (RFC 4648, section 6) in lower case, as Tor and I2P write addresses.
#pragma once

#include "util/bytes.h"

#include <optional>

namespace ibd {

/** Lower case; filled up with '=' to a multiple of eight characters if `pad`. */
std::string ToBase32(ByteSpan bytes, bool pad = true);

/** Takes either case. Nothing unless `text` is a multiple of eight characters, rightly padded, with
 *  zeros for the bits that make no byte. */
std::optional<Bytes> FromBase32(std::string_view text);

} // namespace ibd
