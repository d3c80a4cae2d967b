// See network_config.h.
#include "net/network_config.h"

#include "net/host_lookup.h"
#include "net/option_rows.h"
#include "net/socket/tor_control.h"
#include "util/byte_units.h"
#include "util/host_port.h"
#include "util/strings.h"
#include "util/version.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr size_t kLongestUserAgent = 256;
constexpr uint16_t kI2pSamPort = 7656;
constexpr int64_t kDefaultTimeout = 5000; //!< milliseconds
constexpr std::string_view kUnixPrefix = "unix:";
constexpr std::string_view kCommentCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,;-_?@";

Error Unresolved(const char* option, const std::string& value)
{
    return BadData("Cannot resolve -{} address: '{}'", option, value);
}

Result<> CheckPorts(const ArgsManager& args)
{
    for (const char* name : {"-port", "-rpcport"}) {
        const auto text = args.Get(name);
        if (!text) continue;
        const auto port = ParseInteger<uint16_t>(*text);
        if (!port || *port == 0) return InvalidPort(name, *text);
    }
    struct Kind {
        const char* name;
        bool unix_path; //!< may be unix:/path
        bool suffix;    //!< may end in =word
    };
    static constexpr Kind kKinds[] = {
        {"-i2psam", false, false},    {"-onion", true, false},    {"-proxy", true, true},
        {"-bind", false, true},       {"-rpcbind", false, false}, {"-torcontrol", false, false},
        {"-whitebind", false, false},
    };
    for (const Kind& kind : kKinds) {
        for (const std::string& value : args.GetAll(kind.name)) {
            const std::string address = kind.suffix ? value.substr(0, value.rfind('=')) : value;
            if (SplitHostPort(address)) continue;
            if (!kind.unix_path || !value.starts_with(kUnixPrefix))
                return InvalidPort(kind.name, value);
        }
    }
    return {};
}

/** Restricts the networks by -onlynet. */
Result<> ReadOnlyNet(const ArgsManager& args, PeerNetworkOptions& out)
{
    const std::vector<std::string> names = args.GetAll("-onlynet");
    out.only_net = !names.empty();
    if (out.only_net) out.reachable = {};
    for (const std::string& name : names) {
        const auto network = ParseAddressNetwork(name);
        if (!network) return BadData("Unknown network specified in -onlynet: '{}'", name);
        out.reachable.Add(*network);
    }
    if (args.IsSet("-cjdnsreachable")) return {};
    if (out.only_net && out.reachable.Contains(AddressNetwork::kCjdns)) {
        return BadData("Outbound connections restricted to CJDNS (-onlynet=cjdns) but "
                       "-cjdnsreachable is not provided");
    }
    out.reachable.Remove(AddressNetwork::kCjdns);
    return {};
}

Result<> ReadAsmap(const NetworkConfigSource& source, PeerNetworkOptions& out)
{
    const ArgsManager& args = source.args;
    if (!args.IsSet("-asmap") || args.IsNegated("-asmap")) {
        source.log.Info("Using /16 prefix for IP bucketing");
        return {};
    }
    if (args.GetBool("-asmap", false)) return BadData("Embedded asmap data not available");
    const Path path = source.folder / args.GetPath("-asmap", {});
    const std::string quoted = '"' + path.string() + '"';
    IBD_ASSIGN_OR_RETURN(const bool there, source.env.IsThere(path));
    if (!there) return BadData("Could not find asmap file {}", quoted);
    auto bytes = ReadWholeFile(source.env, path);
    const size_t size = bytes ? bytes->size() : 0;
    if (bytes) source.log.Info("Opened asmap file {} ({} bytes) from disk", quoted, size);
    auto map = bytes ? Asmap::Parse(std::move(*bytes)) : std::nullopt;
    if (bytes && !map) source.log.Warning("Sanity check of asmap file {} failed", quoted);
    if (!map) return BadData("Could not parse asmap file {}", quoted);
    source.log.Info("Using asmap version {} for IP bucketing", map->Version().ToHex());
    out.groups = NetGroups(std::move(*map));
    return {};
}

Result<> CheckUserAgent(const ArgsManager& args)
{
    for (const std::string& comment : args.GetAll("-uacomment")) {
        if (comment.find_first_not_of(kCommentCharacters) == std::string::npos) continue;
        return BadData("User Agent comment ({}) contains unsafe characters.", comment);
    }
    const size_t length = UserAgent(args).size();
    if (length <= kLongestUserAgent) return {};
    return BadData("Total length of network version string ({}) exceeds maximum length ({}). "
                   "Reduce the number or size of uacomments.",
                   length, kLongestUserAgent);
}

/** The port to announce: of the first public -bind or -whitebind, or -port. */
uint16_t ListenPort(const ArgsManager& args, const ChainParams& params)
{
    for (const std::string& value : args.GetAll("-bind")) {
        const auto bound = ResolveHost(value, 0, false);
        if (bound && bound->port != 0) return bound->port;
    }
    for (const std::string& value : args.GetAll("-whitebind")) {
        const auto bound = ParseWhitebind(value);
        if (bound && (bound->permissions & kPermitNoBan) != kPermitNoBan) {
            return bound->address.port;
        }
    }
    return static_cast<uint16_t>(args.GetInt("-port", params.p2p_port));
}

void ReadPeers(const ArgsManager& args, PeerOptions& out)
{
    out.prune_mode = args.GetInt("-prune", 0) != 0;
    if (out.prune_mode) out.services &= ~uint64_t{kNodeNetwork};
    out.user_agent = UserAgent(args);
}

void ReadBounds(const ArgsManager& args, PeerNetworkOptions& out)
{
    const int64_t timeout = args.GetInt("-timeout", kDefaultTimeout);
    out.connect_milliseconds = timeout > 0 ? timeout : kDefaultTimeout;
    const std::vector<std::string> tests = args.GetAll("-test");
    out.fixed_addrman_key = std::find(tests.begin(), tests.end(), "addrman") != tests.end();
}

void ReadConnect(const ArgsManager& args, PeerNetworkOptions& out)
{
    out.connect = args.GetAll("-connect");
    out.connect_only = !out.connect.empty() || args.IsNegated("-connect");
    if (out.connect == std::vector<std::string>{"0"}) out.connect.clear();
    std::erase(out.connect, ""); // no host
    std::erase(out.added, "");
}

Result<> ReadExternal(const NetworkConfigSource& source, PeerNetworkOptions& out)
{
    for (const std::string& text : source.args.GetAll("-externalip")) {
        const auto address = ResolveHost(text, out.listen_port, out.names);
        if (!address || !address->address.IsValid()) return Unresolved("externalip", text);
        out.external.push_back(*address);
    }
    return {};
}

/** Reads the -bind options: those for peers first, those for the onion service after the
 *  -whitebinds. */
Result<> ReadBinds(const ArgsManager& args, uint16_t port, PeerNetworkOptions& out)
{
    std::vector<Binding> onions;
    for (const std::string& value : args.GetAll("-bind")) {
        const size_t equals = value.rfind('=');
        const bool onion = equals != std::string::npos && value.substr(equals + 1) == "onion";
        std::optional<Endpoint> address;
        if (equals == std::string::npos) address = ResolveHost(value, port, false);
        if (onion) {
            address = ResolveHost(value.substr(0, equals), static_cast<uint16_t>(port + 1), false);
        }
        if (!address) return Unresolved("bind", value);
        (onion ? onions : out.binds).push_back({*address, kPermitNone, onion});
    }
    const bool has_target = !onions.empty() || !out.binds.empty();
    for (const std::string& value : args.GetAll("-whitebind")) {
        IBD_ASSIGN_OR_RETURN(const Binding binding, ParseWhitebind(value));
        out.binds.push_back(binding);
    }
    out.bind_any = args.GetAll("-bind").empty() && args.GetAll("-whitebind").empty();
    if (!has_target) {
        onions.push_back({{NetAddress::FromIpv4({127, 0, 0, 1}), static_cast<uint16_t>(port + 1)},
                          kPermitNone,
                          true});
    }
    out.binds.insert(out.binds.end(), onions.begin(), onions.end());
    return {};
}

/** By default Tor forwards connections to our first onion listening address. */
void ReadOnionService(const ArgsManager& args, PeerNetworkOptions& options)
{
    if (!args.GetBool("-listenonion", true)) return;
    const auto first = [&](bool onion) {
        return std::find_if(options.binds.begin(), options.binds.end(),
                            [&](const Binding& binding) { return binding.onion == onion; });
    };
    auto target = first(true);
    if (target == options.binds.end()) target = first(false);
    if (target == options.binds.end()) return;
    OnionServiceOptions onion;
    onion.control_name =
        args.Get("-torcontrol", fmt::format("127.0.0.1:{}", TorControl::kControlPort));
    const auto control = ResolveHost(onion.control_name, TorControl::kControlPort, options.names);
    if (control) onion.control = *control;
    onion.password = args.Get("-torpassword", "");
    onion.target = target->address;
    onion.find_proxy = args.Get("-onion", "").empty();
    const std::vector<std::string> nets = args.GetAll("-onlynet");
    onion.may_connect = nets.empty() || std::any_of(nets.begin(), nets.end(), [](const auto& net) {
                            return ParseAddressNetwork(net) == AddressNetwork::kOnion;
                        });
    options.onion_service = std::move(onion);
}

/** Tor may become reachable later, by its control port. */
Result<> CheckPrivateBroadcast(const PeerNetworkOptions& options)
{
    if (!options.private_broadcast) return {};
    const auto& onion = options.onion_service;
    const bool may_find_tor = onion && onion->may_connect;
    if (!options.reachable.Contains(AddressNetwork::kOnion) &&
        !options.reachable.Contains(AddressNetwork::kI2p) && !may_find_tor) {
        return BadData("Private broadcast of own transactions requested (-privatebroadcast), but "
                       "none of Tor or I2P networks is reachable");
    }
    if (options.connect_only) {
        return BadData("Private broadcast of own transactions requested (-privatebroadcast), but "
                       "-connect is also configured. They are incompatible because the private "
                       "broadcast needs to open new connections to randomly chosen Tor or I2P "
                       "peers. Consider using -maxconnections=0 -addnode=... instead");
    }
    return {};
}

Result<> CheckDuplicateBinds(const PeerNetworkOptions& options)
{
    std::set<Endpoint> seen;
    for (const Binding& binding : options.binds) {
        if (seen.insert(binding.address).second) continue;
        return BadData("Duplicate binding configuration for address {}. Please check your -bind, "
                       "-bind=...=onion and -whitebind settings.",
                       binding.address.ToString());
    }
    return {};
}

} // namespace

std::optional<Endpoint> ResolveHost(const std::string& text, uint16_t default_port, bool names)
{
    const auto found = LookUpHost(text, default_port, names);
    if (!found) return std::nullopt;
    return Endpoint::Parse(found->ToText(), default_port);
}

std::string UserAgent(const ArgsManager& args)
{
    // Clients (lnd) compare the start with Core's name to find the supported calls.
    const std::string agent = fmt::format("/Satoshi:{}.{}.{}/{}:{}", kCompatibleVersion / 10'000,
                                          kCompatibleVersion / 100 % 100, kCompatibleVersion % 100,
                                          kProjectName, kVersion);
    const std::vector<std::string> comments = args.GetAll("-uacomment");
    if (comments.empty()) return agent + '/';
    return fmt::format("{}({})/", agent, fmt::join(comments, "; "));
}

Result<uint64_t> ReadUploadTarget(const ArgsManager& args)
{
    constexpr uint64_t kMebibyte = 1 << 20;
    const std::string target = args.Get("-maxuploadtarget", "0M");
    const auto bytes = ParseByteUnits(target, kMebibyte);
    if (!bytes) return BadData("Unable to parse -maxuploadtarget: '{}'", target);
    return *bytes;
}

Result<PeerNetworkOptions> ReadNetworkOptions(const NetworkConfigSource& source)
{
    const ArgsManager& args = source.args;
    PeerNetworkOptions out;
    out.map_port = true; // the struct's default is for tests
    IBD_RETURN_IF_ERROR(CheckPorts(args));
    for (const PeerOptionTopic& topic : PeerOptionTopics()) {
        IBD_RETURN_IF_ERROR(ReadRows(args, topic.rows, out));
    }
    IBD_RETURN_IF_ERROR(ReadOnlyNet(args, out));
    IBD_RETURN_IF_ERROR(ReadAsmap(source, out));
    if (args.GetBool("-acceptstalefeeestimates", false) &&
        source.params.network != Network::kRegtest) {
        return BadData("acceptstalefeeestimates is not supported on {} chain.", source.params.name);
    }
    IBD_RETURN_IF_ERROR(CheckUserAgent(args));
    if (args.GetBool("-dnsseed") == true && !out.reachable.Contains(AddressNetwork::kIpv4) &&
        !out.reachable.Contains(AddressNetwork::kIpv6)) {
        return BadData("Incompatible options: -dnsseed=1 was explicitly specified, but -onlynet "
                       "forbids connections to IPv4/IPv6");
    }
    ReadPeers(args, out.peers);
    ReadBounds(args, out);
    IBD_ASSIGN_OR_RETURN(out.max_upload, ReadUploadTarget(args));
    ReadConnect(args, out);
    IBD_RETURN_IF_ERROR(ReadProxies(args, out));
    out.listen_port = ListenPort(args, source.params);
    IBD_RETURN_IF_ERROR(ReadExternal(source, out));
    return out;
}

Result<> ReadListenOptions(const NetworkConfigSource& source, PeerNetworkOptions& options)
{
    const ArgsManager& args = source.args;
    const auto port = static_cast<uint16_t>(args.GetInt("-port", source.params.p2p_port));
    IBD_RETURN_IF_ERROR(ReadBinds(args, port, options));
    for (const std::string& value : args.GetAll("-whitelist")) {
        IBD_ASSIGN_OR_RETURN(const Whitelisted entry,
                             ParseWhitelist(value, options.cjdns_reachable));
        options.whitelist.push_back(entry);
    }
    if (options.connect_only && !options.connect.empty() && !options.seed_nodes.empty()) {
        source.log.Info("-seednode is ignored when -connect is used");
    }
    if (options.connect_only && args.GetBool("-dnsseed") == true && args.IsSet("-proxy")) {
        source.log.Info("-dnsseed is ignored when -connect is used and -proxy is specified");
    }
    const std::string sam = args.Get("-i2psam", "");
    if (!sam.empty()) {
        const auto server = ResolveHost(sam, kI2pSamPort, options.names);
        if (!server || !server->address.IsValid()) {
            return BadData("Invalid -i2psam address or hostname: '{}'", sam);
        }
        options.i2p_bridge = *server;
        options.proxies[AddressNetwork::kI2p] = ProxyServer{*server, {}, false};
    } else if (options.only_net && options.reachable.Contains(AddressNetwork::kI2p)) {
        return BadData("Outbound connections restricted to i2p (-onlynet=i2p) but -i2psam is not "
                       "provided");
    }
    ReadOnionService(args, options);
    if (sam.empty()) options.reachable.Remove(AddressNetwork::kI2p);
    IBD_RETURN_IF_ERROR(CheckPrivateBroadcast(options));
    return CheckDuplicateBinds(options);
}

} // namespace ibd
