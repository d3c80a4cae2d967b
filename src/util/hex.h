// Hexadecimal text to and from bytes.
#pragma once

#include "util/bytes.h"

#include <optional>

namespace ibd {

/** Lower-case hex, two digits a byte, in memory order. */
std::string ToHex(ByteSpan bytes);

/** Parses an even number of hex digits of either case; nothing for any other text. */
std::optional<Bytes> FromHex(std::string_view text);

} // namespace ibd
