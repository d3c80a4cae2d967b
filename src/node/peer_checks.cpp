// See peer_checks.h.
#include "node/peer_checks.h"

#include "node/host_lookup.h"
#include "node/start_checks.h"
#include "util/host_port.h"
#include "util/strings.h"
#include "util/version.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr size_t kMaxUserAgent = 256;
constexpr uint16_t kTorSocksPort = 9050;
constexpr uint16_t kI2pSamPort = 7656;
constexpr std::string_view kUnixPrefix = "unix:";
constexpr std::string_view kCommentCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,;-_?@";

std::string Lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

Error BadPort(const std::string& option, const std::string& value)
{
    return BadData("Invalid port specified in {}: '{}'", option, value);
}

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
        if (!port || *port == 0) return BadPort(name, *text);
    }
    struct Kind {
        const char* name;
        bool unix_path; //!< may be unix:/path
        bool suffix;    //!< may end in =word
    };
    static constexpr Kind kKinds[] = {
        {"-i2psam", false, false},      {"-onion", true, false},
        {"-proxy", true, true},         {"-bind", false, true},
        {"-rpcbind", false, false},     {"-torcontrol", false, false},
        {"-whitebind", false, false},   {"-zmqpubhashblock", true, false},
        {"-zmqpubhashtx", true, false}, {"-zmqpubrawblock", true, false},
        {"-zmqpubrawtx", true, false},  {"-zmqpubsequence", true, false},
    };
    for (const Kind& kind : kKinds) {
        for (const std::string& value : args.GetAll(kind.name)) {
            const std::string address = kind.suffix ? value.substr(0, value.rfind('=')) : value;
            if (SplitHostPort(address)) continue;
            if (!kind.unix_path || !value.starts_with(kUnixPrefix))
                return BadPort(kind.name, value);
        }
    }
    return {};
}

/** The networks that -onlynet leaves. */
struct Reachable {
    std::set<std::string> nets{"ipv4", "ipv6", "onion", "i2p", "cjdns"};
    bool limited = false;

    bool Has(const char* net) const { return nets.contains(net); }
};

Result<Reachable> ReadOnlyNet(const ArgsManager& args)
{
    Reachable reachable;
    const std::set<std::string> all = reachable.nets;
    const std::vector<std::string> names = args.GetAll("-onlynet");
    reachable.limited = !names.empty();
    if (reachable.limited) reachable.nets.clear();
    for (const std::string& name : names) {
        if (!all.contains(Lower(name))) {
            return BadData("Unknown network specified in -onlynet: '{}'", name);
        }
        reachable.nets.insert(Lower(name));
    }
    if (!args.IsSet("-cjdnsreachable")) {
        if (reachable.limited && reachable.Has("cjdns")) {
            return BadData("Outbound connections restricted to CJDNS (-onlynet=cjdns) but "
                           "-cjdnsreachable is not provided");
        }
        reachable.nets.erase("cjdns");
    }
    return reachable;
}

Result<> CheckAsmap(const ArgsManager& args)
{
    if (!args.IsSet("-asmap") || args.IsNegated("-asmap")) return {};
    if (args.GetBool("-asmap", false)) return BadData("Embedded asmap data not available");
    return {};
}

Result<> CheckUserAgent(const ArgsManager& args)
{
    for (const std::string& comment : args.GetAll("-uacomment")) {
        if (comment.find_first_not_of(kCommentCharacters) == std::string::npos) continue;
        return BadData("User Agent comment ({}) contains unsafe characters.", comment);
    }
    const size_t length = UserAgent(args).size();
    if (length <= kMaxUserAgent) return {};
    return BadData("Total length of network version string ({}) exceeds maximum length ({}). "
                   "Reduce the number or size of uacomments.",
                   length, kMaxUserAgent);
}

/** Whether -proxy serves onion services; an error if it is none. */
Result<bool> CheckProxies(const ArgsManager& args, bool names)
{
    bool onion = false;
    for (const std::string& value : args.GetAll("-proxy")) {
        const size_t equals = value.rfind('=');
        const std::string address = value.substr(0, equals);
        std::string net;
        if (equals != std::string::npos) {
            if (equals + 1 == value.size()) {
                return BadData("Invalid -proxy address or hostname, ends with '=': '{}'", value);
            }
            net = Lower(value.substr(equals + 1));
        }
        const bool none = address.empty() || address == "0";
        if (!none && !address.starts_with(kUnixPrefix)) {
            const auto found = LookUpHost(address, kTorSocksPort, names);
            if (!found || !found->valid) {
                return BadData("Invalid -proxy address or hostname: '{}'", address);
            }
        }
        static const std::set<std::string> kNets = {"", "ipv4", "ipv6", "onion", "cjdns"};
        if (!kNets.contains(net)) {
            return BadData("Unrecognized network in -proxy='{}': '{}'", value, net);
        }
        if (net.empty() || net == "onion") onion = !none;
    }
    return onion;
}

Result<> CheckOnion(const ArgsManager& args, const Reachable& reachable, bool proxy, bool names)
{
    const bool only = reachable.limited && reachable.Has("onion");
    const std::string onion = args.Get("-onion", "");
    if (onion == "0") {
        proxy = false;
        if (only) {
            return BadData("Outbound connections restricted to Tor (-onlynet=onion) but the proxy "
                           "for reaching the Tor network is explicitly forbidden: -onion=0");
        }
    } else if (!onion.empty()) {
        const auto found = LookUpHost(onion, kTorSocksPort, names);
        if (!onion.starts_with(kUnixPrefix) && (!found || !found->valid)) {
            return BadData("Invalid -onion address or hostname: '{}'", onion);
        }
        proxy = true;
    }
    if (!proxy && only && !args.GetBool("-listenonion", true)) {
        return BadData("Outbound connections restricted to Tor (-onlynet=onion) but the proxy for "
                       "reaching the Tor network is not provided: none of -proxy, -onion or "
                       "-listenonion is given");
    }
    return {};
}

/** Adds an address at which the node would listen; an error if it is there already. */
Result<> AddBinding(std::set<std::string>& seen, const LookedUp& address)
{
    if (seen.insert(address.ToText()).second) return {};
    return BadData("Duplicate binding configuration for address {}. Please check your -bind, "
                   "-bind=...=onion and -whitebind settings.",
                   address.ToText());
}

Result<std::optional<LookedUp>> ReadBind(const std::string& value, uint16_t port)
{
    const size_t equals = value.rfind('=');
    const bool onion = equals != std::string::npos && value.substr(equals + 1) == "onion";
    std::optional<LookedUp> found;
    if (equals == std::string::npos) found = LookUpHost(value, port, false);
    if (onion) found = LookUpHost(value.substr(0, equals), static_cast<uint16_t>(port + 1), false);
    if (!found) return Unresolved("bind", value);
    return found;
}

} // namespace

std::string UserAgent(const ArgsManager& args)
{
    const std::vector<std::string> comments = args.GetAll("-uacomment");
    if (comments.empty()) return kUserAgent;
    std::string agent = kUserAgent;
    CHECK(agent.ends_with('/'));
    agent.pop_back();
    return fmt::format("{}({})/", agent, fmt::join(comments, "; "));
}

Result<> CheckPeerOptions(const ArgsManager& args, const ChainParams& params)
{
    IBD_RETURN_IF_ERROR(CheckPorts(args));
    IBD_ASSIGN_OR_RETURN(const Reachable reachable, ReadOnlyNet(args));
    IBD_RETURN_IF_ERROR(CheckAsmap(args));
    if (args.GetBool("-acceptstalefeeestimates", false) && params.network != Network::kRegtest) {
        return BadData("acceptstalefeeestimates is not supported on {} chain.", params.name);
    }
    IBD_RETURN_IF_ERROR(CheckUserAgent(args));
    if (args.GetBool("-dnsseed") == true && !reachable.Has("ipv4") && !reachable.Has("ipv6")) {
        return BadData("Incompatible options: -dnsseed=1 was explicitly specified, but -onlynet "
                       "forbids connections to IPv4/IPv6");
    }
    const bool names = args.GetBool("-dns", true);
    IBD_ASSIGN_OR_RETURN(const bool onion_proxy, CheckProxies(args, names));
    IBD_RETURN_IF_ERROR(CheckOnion(args, reachable, onion_proxy, names));
    for (const std::string& address : args.GetAll("-externalip")) {
        const auto found = LookUpHost(address, params.p2p_port, names);
        if (!found || !found->valid) return Unresolved("externalip", address);
    }
    return {};
}

Result<> CheckListenOptions(const ArgsManager& args, const ChainParams& params)
{
    const auto port = static_cast<uint16_t>(args.GetInt("-port", params.p2p_port));
    std::set<std::string> seen;
    for (const std::string& value : args.GetAll("-bind")) {
        IBD_ASSIGN_OR_RETURN(const auto address, ReadBind(value, port));
        IBD_RETURN_IF_ERROR(AddBinding(seen, *address));
    }
    const std::string sam = args.Get("-i2psam", "");
    if (!sam.empty()) {
        const auto found = LookUpHost(sam, kI2pSamPort, args.GetBool("-dns", true));
        if (!found || !found->valid) {
            return BadData("Invalid -i2psam address or hostname: '{}'", sam);
        }
        return {};
    }
    IBD_ASSIGN_OR_RETURN(const Reachable reachable, ReadOnlyNet(args));
    if (reachable.limited && reachable.Has("i2p")) {
        return BadData("Outbound connections restricted to i2p (-onlynet=i2p) but -i2psam is not "
                       "provided");
    }
    return {};
}

} // namespace ibd
