// See network_config.h: options that name SOCKS5 servers.
#include "net/network_config.h"

#include "net/address/socket_address.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr uint16_t kTorSocksPort = 9050;
constexpr std::string_view kUnixPrefix = "unix:";
using enum AddressNetwork;

/** Nothing: malformed. */
std::optional<ProxyServer> ParseServer(const std::string& text, bool randomize, bool names)
{
    ProxyServer out;
    out.randomize = randomize;
    if (text.starts_with(kUnixPrefix)) {
        out.unix_path = text.substr(kUnixPrefix.size());
        if (!UnixSocketAddress(out.unix_path)) return std::nullopt; // too long
        return out;
    }
    const auto address = ResolveHost(text, kTorSocksPort, names);
    if (!address || !address->address.IsValid()) return std::nullopt;
    out.address = *address;
    return out;
}

/** The suffixes of -proxy after "=", with their networks. */
struct Target {
    std::string_view name;
    std::vector<AddressNetwork> networks;
    bool names; //!< also resolves names
};

const std::vector<Target>& Targets()
{
    static const std::vector<Target> targets = {{"", {kIpv4, kIpv6, kOnion, kCjdns}, true},
                                                {"ipv4", {kIpv4}, true},
                                                {"ipv6", {kIpv6}, true},
                                                {"onion", {kOnion}, false},
                                                {"cjdns", {kCjdns}, false}};
    return targets;
}

/** Reads one -proxy; an empty one removes the proxies of its networks from `options`. */
Result<> ReadProxy(const std::string& value, bool randomize, PeerNetworkOptions& options)
{
    const size_t equals = value.rfind('=');
    const std::string address = value.substr(0, equals);
    std::string net;
    if (equals != std::string::npos) {
        if (equals + 1 == value.size()) {
            return BadData("Invalid -proxy address or hostname, ends with '=': '{}'", value);
        }
        net = ToLower(value.substr(equals + 1));
    }
    ProxyServer server;
    if (!address.empty() && address != "0") {
        const auto parsed = ParseServer(address, randomize, options.names);
        if (!parsed) return BadData("Invalid -proxy address or hostname: '{}'", address);
        server = *parsed;
    }
    const auto& targets = Targets();
    const auto target = std::find_if(targets.begin(), targets.end(),
                                     [&](const Target& known) { return known.name == net; });
    if (target == targets.end()) {
        return BadData("Unrecognized network in -proxy='{}': '{}'", value, net);
    }
    if (target->names) options.name_proxy = server;
    for (const AddressNetwork network : target->networks) {
        options.proxies.erase(network);
        if (server.IsSet()) options.proxies[network] = server;
    }
    return {};
}

/** -onion overrides -proxy. Without either, Tor is unreachable. */
Result<> ReadOnion(const ArgsManager& args, bool randomize, PeerNetworkOptions& options)
{
    const bool only = options.only_net && options.reachable.Contains(kOnion);
    const std::string onion = args.Get("-onion", "");
    if (onion == "0") {
        options.proxies.erase(kOnion);
        if (only) {
            return BadData("Outbound connections restricted to Tor (-onlynet=onion) but the proxy "
                           "for reaching the Tor network is explicitly forbidden: -onion=0");
        }
    } else if (!onion.empty()) {
        const auto server = ParseServer(onion, randomize, options.names);
        if (!server) return BadData("Invalid -onion address or hostname: '{}'", onion);
        options.proxies[kOnion] = *server;
    }
    if (options.proxies.contains(kOnion)) return {};
    if (only && !args.GetBool("-listenonion", true)) {
        return BadData("Outbound connections restricted to Tor (-onlynet=onion) but the proxy for "
                       "reaching the Tor network is not provided: none of -proxy, -onion or "
                       "-listenonion is given");
    }
    options.reachable.Remove(kOnion);
    return {};
}

} // namespace

Result<> ReadProxies(const ArgsManager& args, PeerNetworkOptions& options)
{
    const bool randomize = args.GetBool("-proxyrandomize", true);
    for (const std::string& value : args.GetAll("-proxy")) {
        IBD_RETURN_IF_ERROR(ReadProxy(value, randomize, options));
    }
    return ReadOnion(args, randomize, options);
}

} // namespace ibd
