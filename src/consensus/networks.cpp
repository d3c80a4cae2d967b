// Selects a network by name or magic, and makes its parameters. See params.h.
#include "consensus/params_build.h"
#include "util/check.h"

namespace ibd {
namespace {

constexpr Network kNetworks[] = {Network::kMain, Network::kTestnet3, Network::kTestnet4,
                                 Network::kSignet, Network::kRegtest};

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

ChainParams MakeChainParams(Network network, const NetworkOptions& options)
{
    ChainParams params = MakeFor(network, options);
    ApplyDeploymentOptions(params.consensus, options);
    params.name = NetworkName(network);
    params.assumeutxo.insert(params.assumeutxo.end(), options.assumeutxo.begin(),
                             options.assumeutxo.end());
    return params;
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
