// See server_options.h.
#include "rpc/server_options.h"
#include "net/address/subnet.h"
#include "util/host_port.h"
#include "util/option_row.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

/** "host", "host:port", "[v6]" or "[v6]:port". */
Result<HttpServerOptions::Address> ParseBind(const std::string& text, uint16_t default_port)
{
    const auto bad_port = [&] { return InvalidPort("-rpcbind", text); };
    std::string host = text;
    std::string port;
    if (text.starts_with('[')) {
        const size_t end = text.find(']');
        if (end == std::string::npos) return bad_port();
        host = text.substr(1, end - 1);
        if (end + 1 < text.size()) port = text.substr(end + 1);
    } else if (const size_t colon = text.find(':');
               colon != std::string::npos && text.find(':', colon + 1) == std::string::npos) {
        host = text.substr(0, colon);
        port = text.substr(colon);
    }
    uint16_t number = default_port;
    if (!port.empty()) {
        const auto parsed = ParseInteger<uint16_t>(std::string_view(port).substr(1));
        if (port[0] != ':' || !parsed || *parsed == 0) return bad_port();
        number = *parsed;
    }
    return HttpServerOptions::Address{host, number};
}

Result<> ReadBind(const ArgsManager& args, uint16_t default_port, Logger& logger,
                  HttpServerOptions& http)
{
    uint16_t port = default_port;
    if (const auto text = args.Get("-rpcport")) {
        const auto parsed = ParseInteger<uint16_t>(*text);
        if (!parsed || *parsed == 0) {
            return InvalidPort("-rpcport", *text);
        }
        port = *parsed;
    }
    const bool open = args.IsSet("-rpcallowip") && args.IsSet("-rpcbind");
    if (!open) {
        http.bind = {{"::1", port}, {"127.0.0.1", port}};
        if (args.IsSet("-rpcallowip")) {
            logger.Warning("Option -rpcallowip was specified without -rpcbind; this doesn't "
                           "usually make sense");
        }
        if (args.IsSet("-rpcbind")) {
            logger.Warning("Option -rpcbind was ignored because -rpcallowip was not specified, "
                           "refusing to allow everyone to connect");
        }
        return {};
    }
    for (const std::string& text : args.GetAll("-rpcbind")) {
        IBD_ASSIGN_OR_RETURN(auto address, ParseBind(text, port));
        if (const auto parsed = NetAddress::Parse(address.host); parsed && parsed->IsBindAny()) {
            logger.Warning("The RPC server is not safe to expose to untrusted networks such as the "
                           "public internet");
        }
        http.bind.push_back(std::move(address));
    }
    return {};
}

/** The addresses that may connect: local ones and those of -rpcallowip. */
Result<std::function<bool(const std::string&)>> ReadAllowed(const ArgsManager& args)
{
    std::vector<Subnet> subnets;
    for (const char* local : {"127.0.0.0/8", "::1"}) subnets.push_back(*Subnet::Parse(local));
    const bool cjdns = args.GetBool("-cjdnsreachable", false);
    for (const std::string& text : args.GetAll("-rpcallowip")) {
        const auto subnet = Subnet::Parse(text, cjdns);
        if (!subnet) {
            // As in Core, the program's last line names the part that failed to start.
            return BadData("Invalid -rpcallowip subnet specification: {}. Valid values are a "
                           "single IP (e.g. 1.2.3.4), a network/netmask (e.g. "
                           "1.2.3.4/255.255.255.0), a network/CIDR (e.g. 1.2.3.4/24), all ipv4 "
                           "(0.0.0.0/0), or all ipv6 (::/0). RFC4193 is allowed only if "
                           "-cjdnsreachable=0.\nError: {}",
                           text, kRpcServerNotStarted);
        }
        subnets.push_back(*subnet);
    }
    return std::function([subnets, cjdns](const std::string& host) {
        const auto parsed = NetAddress::Parse(host);
        if (!parsed) return false;
        const NetAddress address = parsed->WithCjdns(cjdns);
        return std::any_of(subnets.begin(), subnets.end(),
                           [&](const Subnet& subnet) { return subnet.Contains(address); });
    });
}

Result<std::filesystem::perms> ReadCookiePerms(const ArgsManager& args)
{
    using std::filesystem::perms;
    const perms owner = perms::owner_read | perms::owner_write;
    const std::string text = args.Get("-rpccookieperms", "owner");
    if (text == "owner") return owner;
    if (text == "group") return owner | perms::group_read;
    if (text == "all") return owner | perms::group_read | perms::others_read;
    return BadData("Invalid -rpccookieperms={}; must be one of 'owner', 'group', or 'all'.", text);
}

constexpr unsigned kPlain = OptionSpec::kPlain;

constexpr OptionRow<RpcServerOptions> kRows[] = {
    {"-deprecatedrpc", "=<what>",
     "Enable deprecated behaviour: \"warnings\" makes that field one string", OptionSpec::kHidden},
    {"-rest", "", "Answer requests for public data below /rest/, without a login (default: 0)",
     kPlain, kFlag<&RpcServerOptions::rest>},
    {"-server", "", "Accept JSON-RPC commands (default: 1)"},
    {"-rpcallowip", "=<ip>",
     "Accept JSON-RPC connections from this source: an address, a network with a mask "
     "(1.2.3.4/255.255.255.0) or with bits (1.2.3.4/24). May be given several times"},
    {"-rpcauth", "=<userpw>",
     "User name and salted hash of the password, <user>:<salt>$<hash>, where the hash is "
     "HMAC-SHA256 with the salt as key. May be given several times",
     OptionSpec::kSensitive, kTexts<&RpcServerOptions::auth, &RpcAuthOptions::salted>},
    {"-rpcbind", "=<addr>[:port]",
     "Listen for JSON-RPC at this address; ignored unless -rpcallowip is given too. Use "
     "[host]:port for IPv6. May be given several times (default: 127.0.0.1 and ::1)",
     OptionSpec::kNetworkOnly},
    {"-rpccookiefile", "=<loc>",
     "File of the login cookie; relative paths are below the network's data directory (default: "
     ".cookie)"},
    {"-rpccookieperms", "=<readable-by>",
     "Users with read access to the cookie: owner, group or all (default: owner)"},
    {"-rpcpassword", "=<pw>", "Password for JSON-RPC connections", OptionSpec::kSensitive,
     kText<&RpcServerOptions::auth, &RpcAuthOptions::password>},
    {"-rpcport", "=<port>",
     "Listen for JSON-RPC at this port (default: 8332, testnet3: 18332, testnet4: 48332, "
     "signet: 38332, regtest: 18443)",
     OptionSpec::kNetworkOnly},
    {"-rpcservertimeout", "=<n>", "Seconds until an idle connection is closed (default: 30)",
     OptionSpec::kHidden,
     kClamped<&RpcServerOptions::http, &HttpServerOptions::timeout_seconds>.From(INT32_MIN,
                                                                                 INT32_MAX)},
    {"-rpcthreads", "=<n>", "Threads that serve RPC calls (default: 16)", kPlain,
     kClamped<&RpcServerOptions::http, &HttpServerOptions::threads>.From(INT32_MIN, INT32_MAX)},
    {"-rpcuser", "=<user>", "User name for JSON-RPC connections", OptionSpec::kSensitive,
     kText<&RpcServerOptions::auth, &RpcAuthOptions::user>},
    {"-rpcwhitelist", "=<whitelist>",
     "Calls that a user may make, <user>:<call>,<call>. May be given several times; with two "
     "lists for one user, only calls in both are allowed",
     kPlain, kTexts<&RpcServerOptions::auth, &RpcAuthOptions::whitelist>},
    {"-rpcwhitelistdefault", "",
     "Whether users without a list may call nothing (1) or everything (0) (default: 1 if any "
     "-rpcwhitelist is given, else 0)",
     kPlain, kFlag<&RpcServerOptions::auth, &RpcAuthOptions::whitelist_default>},
    {"-rpcworkqueue", "=<n>", "RPC calls that may wait for a thread (default: 64)",
     OptionSpec::kHidden,
     kClamped<&RpcServerOptions::http, &HttpServerOptions::work_queue>.From(INT32_MIN, INT32_MAX)},
};

} // namespace

OptionTopic<RpcServerOptions> RpcServerTopic() { return {OptionGroup::kRpc, kRows}; }

Result<RpcServerOptions> ReadRpcOptions(const ArgsManager& args, uint16_t default_port,
                                        const Path& network_dir, Logger& logger)
{
    RpcServerOptions options;
    IBD_RETURN_IF_ERROR(ReadRows(args, RpcServerTopic().rows, options));
    IBD_RETURN_IF_ERROR(ReadBind(args, default_port, logger, options.http));
    IBD_ASSIGN_OR_RETURN(options.http.allowed, ReadAllowed(args));
    options.log_ips = args.GetBool("-logips", false);
    const Path cookie = args.GetPath("-rpccookiefile", ".cookie");
    if (!cookie.empty()) options.auth.cookie = network_dir / cookie;
    IBD_ASSIGN_OR_RETURN(options.auth.cookie_perms, ReadCookiePerms(args));
    return options;
}

} // namespace ibd
