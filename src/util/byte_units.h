// Sizes with a unit, in options.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ibd {

/** Parses sizes such as "2g"; nothing: malformed, such as "1.5G". */
std::optional<uint64_t> ParseByteUnits(std::string_view text, uint64_t default_unit);

} // namespace ibd
