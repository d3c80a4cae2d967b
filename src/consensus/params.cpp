#include "consensus/params.h"

#include "consensus/params_build.h"
#include "util/check.h"

#include <algorithm>
#include <charconv>

namespace ibd {
namespace {

constexpr Network kNetworks[] = {Network::kMain, Network::kTestnet3, Network::kTestnet4,
                                 Network::kSignet, Network::kRegtest};

/** The whole text as a decimal number that fits; no sign but '-', no spaces. */
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

ChainParams MakeFor(Network network, const NetworkOptions& options)
{
    switch (network) {
    case Network::kMain: return MakeMainParams();
    case Network::kTestnet3: return MakeTestnet3Params();
    case Network::kTestnet4: return MakeTestnet4Params();
    case Network::kSignet: return MakeSignetParams(options);
    case Network::kRegtest: return MakeRegtestParams(options);
    }
    CHECK(false);
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

ChainParams MakeChainParams(Network network, const NetworkOptions& options)
{
    ChainParams params = MakeFor(network, options);
    ApplyDeploymentOptions(params.consensus, options);
    params.name = NetworkName(network);
    return params;
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

const char* NetworkName(Network network)
{
    switch (network) {
    case Network::kMain: return "main";
    case Network::kTestnet3: return "test";
    case Network::kTestnet4: return "testnet4";
    case Network::kSignet: return "signet";
    case Network::kRegtest: return "regtest";
    }
    CHECK(false);
}

std::optional<Network> NetworkFromName(const std::string& name)
{
    for (const Network network : kNetworks) {
        if (name == NetworkName(network)) return network;
    }
    return {};
}

std::optional<Network> NetworkFromMagic(const std::array<uint8_t, 4>& magic)
{
    for (const Network network : kNetworks) {
        if (MakeChainParams(network).magic == magic) return network;
    }
    return {};
}

} // namespace ibd
