// Base64 (RFC 4648, section 4) with padding, as HTTP's basic authentication uses it.
#pragma once

#include "util/bytes.h"

#include <optional>

namespace ibd {

std::string ToBase64(ByteSpan bytes);

/** Nothing unless `text` is a multiple of four characters, correctly padded. */
std::optional<Bytes> FromBase64(std::string_view text);

} // namespace ibd
