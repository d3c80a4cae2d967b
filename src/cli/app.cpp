// See app.h.
#include "cli/app.h"
#include "cli/get_info.h"
#include "cli/http_client.h"
#include "cli/param_table.h"
#include "util/config.h"
#include "util/strings.h"
#include "util/version.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>

namespace ibd {

namespace {

constexpr int kWarmupCode = -28;

void AddCliOptions(ArgsManager& args)
{
    AddCommonOptions(args);
    const auto add = [&](const char* name, const char* argument, const char* help) {
        args.Add(name, argument, help, OptionGroup::kCli);
    };
    args.Add("-color", "=<when>",
             "Colours in the output of -getinfo: always, never, or auto, on a terminal only "
             "(default: auto)",
             OptionGroup::kCli, OptionSpec::kNoNegation);
    add("-getinfo", "", "Show general facts about the node, from several calls");
    add("-named", "", "Arguments are name=value (default: 0)");
    add("-rpcclienttimeout", "=<n>", "Seconds to wait for an answer; 0: no limit (default: 900)");
    add("-rpcconnect", "=<host>", "Node to call (default: 127.0.0.1)");
    add("-rpccookiefile", "=<loc>",
        "The cookie to log in with; relative paths are below the network's data directory "
        "(default: .cookie)");
    args.Add("-rpcid", "=<id>", "Id of the request, which the node repeats (default: 1)",
             OptionGroup::kCli, OptionSpec::kNoNegation);
    add("-rpcpassword", "=<pw>", "Password to log in with");
    args.Add("-rpcport", "=<port>", "Port to connect to (default: that of the network)",
             OptionGroup::kCli, OptionSpec::kNetworkOnly);
    add("-rpcuser", "=<user>", "User name to log in with");
    add("-rpcwait", "", "Wait until the node serves calls");
    add("-rpcwaittimeout", "=<n>", "Seconds to wait with -rpcwait; 0: no limit (default: 0)");
    add("-stdin", "", "Read further arguments from standard input, one a line");
    add("-stdinrpcpass", "", "Read the password from the first line of standard input");
}

std::string UsageText(const ArgsManager& args)
{
    return fmt::format("{} RPC client version v{}\n\n"
                       "Usage:  bitcoin-cli [options] <command> [params]\n"
                       "or:     bitcoin-cli [options] -named <command> [name=value]...\n"
                       "or:     bitcoin-cli [options] help [command]\n\n{}",
                       kProjectName, kVersion, args.Help(false));
}

/** What the call came to. */
struct Outcome {
    bool connected = false;
    bool warming_up = false;
    std::string out;
    std::string error;
    int exit_code = EXIT_FAILURE;
};

class Cli {
public:
    Cli(Env& env, const CliStreams& streams) : m_env(env), m_streams(streams) {}
    int Run(int argc, const char* const argv[]);

private:
    Result<> Prepare();
    Result<HttpTarget> Target();
    Result<> FindLogin(HttpTarget& target);
    Result<std::string> RequestBody();
    Result<Outcome> CallOnce(const HttpTarget& target, const std::string& body);
    Result<Outcome> CallUntilReady(const HttpTarget& target, const std::string& body);
    Outcome Interpret(const UniValue& reply) const;
    int Fail(const std::string& message)
    {
        m_streams.error << "error: " << message << "\n";
        return EXIT_FAILURE;
    }

    Env& m_env;
    CliStreams m_streams;
    ArgsManager m_args;
    DataPaths m_paths;
    std::vector<std::string> m_words; //!< method and arguments
    bool m_color = false;
};

int Cli::Run(int argc, const char* const argv[])
{
    AddCliOptions(m_args);
    const auto parsed = m_args.ParseCommandLine(argc, argv);
    if (!parsed.Ok()) return Fail(parsed.Message());
    const bool help = m_args.IsSet("-help") || m_args.IsSet("-h") || m_args.IsSet("-?");
    if (argc < 2 || help) {
        m_streams.out << UsageText(m_args);
        return argc < 2 ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    if (m_args.IsSet("-version")) {
        m_streams.out << fmt::format("{} RPC client version v{}\n", kProjectName, kVersion);
        return EXIT_SUCCESS;
    }
    const auto prepared = Prepare();
    if (!prepared.Ok()) return Fail(prepared.Message());
    const auto target = Target();
    if (!target.Ok()) return Fail(target.Message());
    const auto body = RequestBody();
    if (!body.Ok()) return Fail(body.Message());
    const auto outcome = CallUntilReady(*target, *body);
    if (!outcome.Ok()) return Fail(outcome.Message());
    if (!outcome->out.empty()) m_streams.out << outcome->out << "\n";
    if (!outcome->error.empty()) m_streams.error << outcome->error << "\n";
    return outcome->exit_code;
}

Result<> Cli::Prepare()
{
    IBD_ASSIGN_OR_RETURN(m_paths, LoadConfiguration(m_env, m_args));
    if (m_args.GetBool("-stdinrpcpass", false)) {
        std::string password;
        if (!std::getline(m_streams.in, password)) {
            return BadData("-stdinrpcpass: standard input is empty");
        }
        m_args.ForceSet("-rpcpassword", password);
    }
    m_words = m_args.Command();
    if (m_args.GetBool("-stdin", false)) {
        std::string line;
        while (std::getline(m_streams.in, line)) m_words.push_back(line);
    }
    if (m_words.empty() && !m_args.GetBool("-getinfo", false)) {
        return BadData("which call? One word at least is needed; see bitcoin-cli -help");
    }
    if (!m_words.empty() && m_args.GetBool("-getinfo", false)) {
        return BadData("-getinfo takes no arguments");
    }
    const std::string color = m_args.Get("-color", "auto");
    if (color != "always" && color != "never" && color != "auto") {
        return BadData("-color={}: must be always, never or auto", color);
    }
    m_color = color == "always" || (color == "auto" && m_streams.out_is_terminal);
    return {};
}

Result<HttpTarget> Cli::Target()
{
    HttpTarget target;
    target.host = m_args.Get("-rpcconnect", "127.0.0.1");
    target.port = m_paths.rpc_port;
    std::string port;
    if (target.host.starts_with('[')) { // [v6] or [v6]:port
        const size_t end = target.host.find(']');
        if (end == std::string::npos) return BadData("-rpcconnect={}: no ]", target.host);
        if (end + 1 < target.host.size()) port = target.host.substr(end + 2);
        target.host = target.host.substr(1, end - 1);
    } else if (const size_t colon = target.host.find(':');
               colon != std::string::npos &&
               target.host.find(':', colon + 1) == std::string::npos) {
        port = target.host.substr(colon + 1);
        target.host.resize(colon);
    }
    port = m_args.Get("-rpcport", port);
    if (!port.empty()) {
        const auto number = ParseInteger<uint16_t>(port);
        if (!number || *number == 0) return BadData("'{}' is no valid port", port);
        target.port = *number;
    }
    target.timeout_seconds = static_cast<int>(m_args.GetInt("-rpcclienttimeout", 900));
    return target;
}

// The cookie is read at each attempt: with -rpcwait it may not be there yet.
Result<> Cli::FindLogin(HttpTarget& target)
{
    const std::string password = m_args.Get("-rpcpassword", "");
    if (!password.empty()) {
        target.login = m_args.Get("-rpcuser", "") + ":" + password;
        return {};
    }
    const Path cookie = m_paths.Network() / m_args.Get("-rpccookiefile", ".cookie");
    const auto contents = ReadWholeFile(m_env, cookie);
    target.login = contents.Ok() ? std::string(AsChars(*contents)) : "";
    return {};
}

Result<std::string> Cli::RequestBody()
{
    if (m_args.GetBool("-getinfo", false)) return GetInfoBatch().write() + "\n";
    const std::string& method = m_words[0];
    const std::vector<std::string> words(m_words.begin() + 1, m_words.end());
    IBD_ASSIGN_OR_RETURN(const UniValue params, m_args.GetBool("-named", false)
                                                    ? ConvertNamed(method, words)
                                                    : ConvertPositional(method, words));
    UniValue request(UniValue::VOBJ);
    request.pushKV("jsonrpc", "2.0");
    request.pushKV("method", method);
    request.pushKV("params", params);
    const auto id = m_args.Get("-rpcid");
    request.pushKV("id", id ? UniValue(*id) : UniValue(1));
    return request.write() + "\n";
}

Result<Outcome> Cli::CallUntilReady(const HttpTarget& target, const std::string& body)
{
    const bool wait = m_args.GetBool("-rpcwait", false);
    const int64_t limit = m_args.GetInt("-rpcwaittimeout", 0);
    const int64_t start = m_env.MonotonicMicros();
    for (;;) {
        IBD_ASSIGN_OR_RETURN(Outcome outcome, CallOnce(target, body));
        const bool ready = outcome.connected && !outcome.warming_up;
        const bool expired = limit > 0 && m_env.MonotonicMicros() - start >= limit * 1'000'000;
        if (ready || !wait || expired) {
            if (expired && !ready) outcome.error = "error: timeout: " + outcome.error;
            return outcome;
        }
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
}

Result<Outcome> Cli::CallOnce(const HttpTarget& target, const std::string& body)
{
    HttpTarget with_login = target;
    IBD_RETURN_IF_ERROR(FindLogin(with_login));
    IBD_ASSIGN_OR_RETURN(const HttpAnswer answer, Post(with_login, "/", body));
    Outcome outcome;
    if (answer.status == 0) {
        outcome.error = fmt::format(
            "error: cannot reach a node at {}:{}{}{}\nIs bitcoind running, and is this its RPC "
            "port? See bitcoin-cli -help.",
            target.host, target.port, answer.body.empty() ? "" : ": ", answer.body);
        return outcome;
    }
    outcome.connected = true;
    if (answer.status == 401 && with_login.login.empty()) {
        return BadData("no login: there is no cookie '{}' and no -rpcpassword is given (see "
                       "-rpcpassword and -stdinrpcpass; configuration file: {})",
                       (m_paths.Network() / m_args.Get("-rpccookiefile", ".cookie")).string(),
                       m_paths.config.string());
    }
    if (answer.status == 401) return BadData("the node refuses this -rpcuser and -rpcpassword");
    if (answer.status == 503) return BadData("the node answers: {}", answer.body);
    if (answer.status >= 400 && answer.status != 400 && answer.status != 404 &&
        answer.status != 500) {
        return BadData("the node answers with HTTP status {}", answer.status);
    }
    if (answer.body.empty()) return BadData("the node's answer is empty");
    UniValue reply;
    if (!reply.read(answer.body)) return BadData("the node's answer is no JSON");
    outcome = Interpret(reply);
    outcome.connected = true;
    return outcome;
}

std::string ErrorText(const UniValue& error)
{
    if (!error.isObject()) return "error: " + error.write();
    std::string text;
    if (error["code"].isNum()) text += "error code: " + error["code"].getValStr() + "\n";
    if (error["message"].isStr()) text += "error message:\n" + error["message"].getValStr();
    return text;
}

Outcome Cli::Interpret(const UniValue& reply) const
{
    Outcome outcome;
    UniValue error;
    if (reply.isArray()) {
        outcome.out = GetInfoText(reply, m_color, error);
    } else {
        error = reply["error"];
        const UniValue& result = reply["result"];
        if (result.isStr())
            outcome.out = result.getValStr();
        else if (!result.isNull())
            outcome.out = result.write(2);
    }
    outcome.exit_code = EXIT_SUCCESS;
    if (error.isNull()) return outcome;
    outcome.out.clear();
    outcome.error = ErrorText(error);
    const auto code = ParseInteger<int>(error["code"].getValStr());
    outcome.exit_code = code ? std::abs(*code) : EXIT_FAILURE;
    outcome.warming_up = code == kWarmupCode;
    return outcome;
}

} // namespace

int RunCli(Env& env, int argc, const char* const argv[], const CliStreams& streams)
{
    return Cli(env, streams).Run(argc, argv);
}

} // namespace ibd
