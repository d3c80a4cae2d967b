// See pool_config.h.
#include "mempool/pool_config.h"

#include "util/strings.h"

#include <algorithm>
#include <cctype>

namespace ibd {

std::optional<Amount> ParseMoney(std::string_view text)
{
    text = Trim(text);
    const size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    std::string decimals(point == std::string_view::npos ? "" : text.substr(point + 1));
    const auto digits = [](std::string_view part) {
        return std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
    };
    if (text.empty() || whole.size() > 10 || decimals.size() > 8) return std::nullopt;
    if (!digits(whole) || !digits(decimals)) return std::nullopt;
    decimals.resize(8, '0');
    const int64_t amount = LenientInteger(whole) * 100'000'000 + LenientInteger(decimals);
    if (amount > kMaxMoney) return std::nullopt;
    return amount;
}

void ReadAmount(const ArgsManager& args, const char* name, Amount& out)
{
    if (const auto text = args.Get(name)) out = ParseMoney(*text).value_or(out);
}

void ReadPolicy(const ArgsManager& args, PolicyOptions& out)
{
    out.require_standard = !args.GetBool("-acceptnonstdtxn", false);
    ReadAmount(args, "-incrementalrelayfee", out.incremental_fee);
    // If only the increment is set, it is also the minimum rate.
    out.min_relay_fee = std::max(out.min_relay_fee, out.incremental_fee);
    ReadAmount(args, "-minrelaytxfee", out.min_relay_fee);
    ReadAmount(args, "-dustrelayfee", out.dust_fee);
    if (!args.GetBool("-datacarrier", true)) out.max_datacarrier = 0;
}

} // namespace ibd
