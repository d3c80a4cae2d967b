// See byte_units.h.
#include "util/byte_units.h"

#include "util/strings.h"

#include <utility>

namespace ibd {

std::optional<uint64_t> ParseByteUnits(std::string_view text, uint64_t default_unit)
{
    constexpr std::string_view kSmall = "kmgt";
    constexpr std::string_view kCapital = "KMGT";
    if (text.empty()) return std::nullopt;
    uint64_t unit = 0;
    for (const auto& [letters, base] : {std::pair{kSmall, 1000}, std::pair{kCapital, 1024}}) {
        const size_t power = letters.find(text.back());
        if (power == std::string_view::npos) continue;
        unit = 1;
        for (size_t i = 0; i <= power; ++i) unit *= static_cast<uint64_t>(base);
    }
    if (unit != 0) text.remove_suffix(1);
    if (unit == 0) unit = default_unit;
    const auto number = ParseInteger<uint64_t>(text);
    if (!number || *number > UINT64_MAX / unit) return std::nullopt;
    return *number * unit;
}

} // namespace ibd
