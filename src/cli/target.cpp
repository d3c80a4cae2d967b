// See target.h.
#include "cli/target.h"
#include "util/strings.h"

#include <ostream>

namespace ibd {

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
    target.timeout_seconds = static_cast<int>(args.GetInt("-rpcclienttimeout", 900));
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
