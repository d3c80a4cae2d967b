// See params.h. Snapshots, and options that move deployments.
#include "consensus/params.h"

#include "util/check.h"

#include <algorithm>
#include <charconv>

namespace ibd {
namespace {

/** Parses the whole text as a decimal number in range; the only sign is '-', no spaces. */
template <typename T>
std::optional<T> ParseWhole(std::string_view text)
{
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

std::vector<std::string> Split(const std::string& text, char separator)
{
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator) {
            parts.emplace_back();
        } else {
            parts.back().push_back(c);
        }
    }
    return parts;
}

} // namespace

const AssumeutxoData* ChainParams::AssumeutxoAt(int height) const
{
    const auto it = std::find_if(assumeutxo.begin(), assumeutxo.end(),
                                 [&](const auto& data) { return data.height == height; });
    return it == assumeutxo.end() ? nullptr : &*it;
}

const AssumeutxoData* ChainParams::AssumeutxoFor(const BlockHash& block_hash) const
{
    const auto it = std::find_if(assumeutxo.begin(), assumeutxo.end(),
                                 [&](const auto& data) { return data.block_hash == block_hash; });
    return it == assumeutxo.end() ? nullptr : &*it;
}

Result<> ParseAssumeutxo(const std::string& value, NetworkOptions& options)
{
    auto parts = Split(value, ':');
    const bool complete = parts.size() == 3;
    parts.resize(3);
    const auto height = ParseWhole<int>(parts[0]);
    const auto hash = Uint256::FromHex(parts[1]);
    const auto txs = ParseWhole<uint64_t>(parts[2]);
    if (!complete || height.value_or(0) <= 0 || !hash || txs.value_or(0) == 0) {
        return BadData("-assumeutxo={}: expected <height>:<hash>:<txcount>, of the block, its "
                       "coins (hash_serialized_3) and the chain up to it",
                       value);
    }
    options.assumeutxo.push_back({*height, *hash, *txs, {}});
    return {};
}

Result<> ParseTestActivationHeight(const std::string& value, NetworkOptions& options)
{
    const auto at = value.find('@');
    if (at == std::string::npos) {
        return BadData("Invalid format ({}) for -testactivationheight=name@height.", value);
    }
    const auto height = ParseWhole<int>(std::string_view(value).substr(at + 1));
    if (!height || *height < 0 || *height == std::numeric_limits<int>::max()) {
        return BadData("Invalid height value ({}) for -testactivationheight=name@height.", value);
    }
    const auto deployment = BuriedDeploymentFromName(std::string_view(value).substr(0, at));
    if (!deployment) {
        return BadData("Invalid name ({}) for -testactivationheight=name@height.", value);
    }
    options.activation_heights[*deployment] = *height;
    return {};
}

Result<> ParseVersionBitsParameters(const std::string& value, NetworkOptions& options)
{
    const auto parts = Split(value, ':');
    if (parts.size() < 3 || parts.size() > 4) {
        return BadData("Version bits parameters malformed, expecting "
                       "deployment:start:end[:min_activation_height]");
    }
    VersionBitsOption option;
    const auto start = ParseWhole<int64_t>(parts[1]);
    if (!start) return BadData("Invalid nStartTime ({})", parts[1]);
    const auto timeout = ParseWhole<int64_t>(parts[2]);
    if (!timeout) return BadData("Invalid nTimeout ({})", parts[2]);
    option.start_time = *start;
    option.timeout = *timeout;
    if (parts.size() == 4) {
        const auto height = ParseWhole<int>(parts[3]);
        if (!height) return BadData("Invalid min_activation_height ({})", parts[3]);
        option.min_activation_height = *height;
    }
    const auto deployment = DeploymentFromName(parts[0]);
    if (!deployment) return BadData("Invalid deployment ({})", parts[0]);
    option.deployment = *deployment;
    options.version_bits.push_back(option);
    return {};
}

} // namespace ibd
