// Base64 (RFC 4648, section 4) with padding, as in HTTP basic authentication.
#pragma once

#include "util/bytes.h"

#include <optional>

namespace ibd {

std::string ToBase64(ByteSpan bytes);

/** Nothing: `text` is not a multiple of four characters, or wrongly padded. */
std::optional<Bytes> FromBase64(std::string_view text);

} // namespace ibd
