// See target.h.
#include "cli/target.h"
#include "util/strings.h"

#include <ostream>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr unsigned kPlain = OptionSpec::kPlain;

constexpr OptionRow<CliOptions> kRows[] = {
    {"-color", "=<when>",
     "Colours in the output of -getinfo: always, never, or auto, on a terminal only "
     "(default: auto)",
     OptionSpec::kNoNegation, kText<&CliOptions::color>},
    {"-generate", "",
     "Mine blocks by getnewaddress and generatetoaddress. Two numbers may follow: the number of "
     "blocks (default 1) and of tries (default 1000000)",
     kPlain, kFlag<&CliOptions::generate>},
    {"-getinfo", "", "Show general facts about the node, from several calls", kPlain,
     kFlag<&CliOptions::get_info>},
    {"-addrinfo", "", "Show how many addresses the node knows, by network", kPlain,
     kFlag<&CliOptions::address_info>},
    {"-netinfo", "", "Show the node's peers; a level from 0 to 4 and outonly may follow, or help",
     kPlain, kFlag<&CliOptions::net_info>},
    {"-ipcconnect", "=<address>",
     "auto or 0: calls go over TCP, as in Core without IPC; any other address is refused (default: "
     "auto)"},
    {"-named", "", "Arguments are name=value (default: 0)", kPlain, kFlag<&CliOptions::named>},
    {"-rpcclienttimeout", "=<n>", "Seconds to wait for an answer; 0: no limit (default: 900)",
     kPlain, kClamped<&CliOptions::timeout_seconds>.From(INT32_MIN, INT32_MAX)},
    {"-rpcconnect", "=<host>", "Node to call (default: 127.0.0.1)"},
    {"-rpccookiefile", "=<loc>",
     "The cookie to log in with; relative paths are below the network's data directory "
     "(default: .cookie)"},
    {"-rpcid", "=<id>", "Id of the request, which the node repeats (default: 1)",
     OptionSpec::kNoNegation, kText<&CliOptions::id>},
    {"-rpcpassword", "=<pw>", "Password to log in with"},
    {"-rpcport", "=<port>", "Port to connect to (default: that of the network)",
     OptionSpec::kNetworkOnly},
    {"-rpcuser", "=<user>", "User name to log in with"},
    {"-rpcwait", "", "Wait until the node serves calls", kPlain, kFlag<&CliOptions::wait>},
    {"-rpcwaittimeout", "=<n>", "Seconds to wait with -rpcwait; 0: no limit (default: 0)", kPlain,
     kClamped<&CliOptions::wait_seconds>},
    {"-rpcwallet", "=<name>", "Wallet for the call; the node serves it at /wallet/<name>"},
    {"-stdin", "", "Read further arguments from standard input, one a line", kPlain,
     kFlag<&CliOptions::read_words>},
    {"-stdinrpcpass", "", "Read the password from the first line of standard input", kPlain,
     kFlag<&CliOptions::read_password>},
    {"-stdinwalletpassphrase", "",
     "Read the wallet's passphrase from standard input, from the line after that of -stdinrpcpass",
     kPlain, kFlag<&CliOptions::read_passphrase>},
};

} // namespace

OptionTopic<CliOptions> CliTopic() { return {OptionGroup::kCli, kRows}; }

void AddCliOptions(ArgsManager& args)
{
    AddCommonOptions(args);
    AddRows(args, CliTopic());
}

Result<CliOptions> ReadCliOptions(const ArgsManager& args)
{
    CliOptions options;
    IBD_RETURN_IF_ERROR(ReadRows(args, CliTopic().rows, options));
    if (!args.IsNegated("-rpcwallet")) options.wallet = args.Get("-rpcwallet");
    return options;
}

Result<> CheckOneSpecial(const ArgsManager& args)
{
    std::vector<std::string> found;
    for (const char* name : {"-addrinfo", "-generate", "-getinfo", "-netinfo"}) {
        if (args.IsSet(name) || args.IsNegated(name)) found.emplace_back(name);
    }
    if (found.size() < 2) return {};
    return BadData("Only one of {} may be specified.", fmt::join(found, ", "));
}

Result<> CheckIpc(const ArgsManager& args)
{
    const std::string address = args.Get("-ipcconnect", "auto");
    if (address == "auto" || address == "0") return {};
    if (args.IsSet("-rpcconnect") && !args.IsNegated("-rpcconnect")) {
        return BadData("-rpcconnect and -ipcconnect options cannot both be enabled");
    }
    return BadData("bitcoin-cli was not built with IPC support");
}

void SetPassword(ArgsManager& args, const std::string& password)
{
    args.ForceSet("-rpcpassword", password);
}

Result<HttpTarget> ReadTarget(const ArgsManager& args, const DataPaths& paths,
                              std::ostream& warnings)
{
    HttpTarget target;
    const std::string given = args.Get("-rpcconnect", "127.0.0.1");
    target.host = given;
    target.port = paths.rpc_port;
    std::string port;
    if (given.starts_with('[') && given.find(']') != std::string::npos) { // [v6] or [v6]:port
        const size_t end = given.find(']');
        port = given.substr(end + 1);
        target.host = given.substr(1, end - 1);
    } else if (const size_t colon = given.find(':');
               colon != std::string::npos && given.find(':', colon + 1) == std::string::npos) {
        port = given.substr(colon);
        target.host.resize(colon);
    }
    if (!port.empty()) {
        const auto number = ParseInteger<uint16_t>(std::string_view(port).substr(1));
        if (port[0] != ':' || !number || *number == 0) {
            return BadData("Invalid port provided in -rpcconnect: {}", given);
        }
        target.port = *number;
    }
    if (const auto text = args.Get("-rpcport")) {
        const auto number = ParseInteger<uint16_t>(*text);
        if (!number || *number == 0) return BadData("Invalid port provided in -rpcport: {}", *text);
        target.port = *number;
        if (!port.empty()) {
            warnings << fmt::format("Warning: Port specified in both -rpcconnect and "
                                    "-rpcport. Using -rpcport {}\n",
                                    target.port);
        }
    }
    return target;
}

std::string ReadLogin(Env& env, const ArgsManager& args, const DataPaths& paths)
{
    const std::string password = args.Get("-rpcpassword", "");
    if (!password.empty()) return args.Get("-rpcuser", "") + ":" + password;
    const Path cookie = args.GetPath("-rpccookiefile", ".cookie");
    if (cookie.empty()) return {}; // -norpccookiefile
    const auto contents = ReadWholeStream(env, paths.Network() / cookie);
    if (!contents.Ok()) return {};
    return std::string(Split(AsChars(*contents), '\n')[0]);
}

std::string LoginRefused(const ArgsManager& args, const DataPaths& paths, const std::string& login)
{
    const char* why = "Incorrect rpcuser or rpcpassword were specified.";
    if (args.Get("-rpcpassword", "").empty()) {
        why = "Cookie file credentials were invalid and no rpcpassword was specified.";
        if (login.empty()) {
            why = args.IsNegated("-rpccookiefile")
                      ? "Cookie file was disabled via -norpccookiefile and no rpcpassword was "
                        "specified."
                      : "Failed to read cookie file and no rpcpassword was specified.";
        }
    }
    return fmt::format("Authorization failed: {} Configuration file: ({})", why,
                       paths.config.string());
}

std::string WalletPath(const std::optional<std::string>& wallet)
{
    if (!wallet) return "/";
    std::string path = "/wallet/";
    for (const char c : *wallet) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') ||
                           std::string_view("-._~").find(c) != std::string_view::npos;
        path += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return path;
}

} // namespace ibd
