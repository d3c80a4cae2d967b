// See app.h.
#include "cli/app.h"
#include "cli/get_info.h"
#include "cli/net_info.h"
#include "cli/param_table.h"
#include "cli/target.h"
#include "util/config.h"
#include "util/strings.h"
#include "util/version.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>

#include <fmt/format.h>

namespace ibd {

namespace {

UniValue MakeRequest(const std::string& method, const UniValue& params, const UniValue& id)
{
    UniValue request(UniValue::VOBJ);
    request.pushKV("method", method);
    request.pushKV("params", params);
    request.pushKV("id", id);
    request.pushKV("jsonrpc", "2.0");
    return request;
}

/** Whether the node answers that it is starting; of a batch, to any of its calls. */
bool IsWarmup(const UniValue& reply)
{
    constexpr const char* kWarmupCode = "-28";
    if (reply.isArray()) return std::ranges::any_of(reply.getValues(), IsWarmup);
    return reply.isObject() && reply["error"].isObject() &&
           reply["error"]["code"].getValStr() == kWarmupCode;
}

std::string UsageText(const ArgsManager& args)
{
    return fmt::format("{} RPC client version v{}\n\n"
                       "Usage:  bitcoin-cli [options] <command> [params]\n"
                       "or:     bitcoin-cli [options] -named <command> [name=value]...\n"
                       "or:     bitcoin-cli [options] help [command]\n\n{}",
                       kProjectName, kVersion, args.Help(false));
}

/** The result of the program. */
struct Outcome {
    std::string out;
    std::string error;
    int exit_code = EXIT_FAILURE;
};

/** The answer to one call: its result or, if that is null, its error. */
struct Reply {
    UniValue result;
    UniValue error;
};

class Cli {
public:
    Cli(Env& env, const CliStreams& streams) : m_env(env), m_streams(streams) {}
    int Run(int argc, const char* const argv[]);

private:
    enum class Special { kNone, kGetInfo, kNetInfo, kAddrInfo, kGenerate };

    Result<> Prepare();
    Result<> ReadStandardInput();
    /** Name and arguments of a call, positional or named, as JSON. */
    Result<UniValue> Request(const std::string& method,
                             const std::vector<std::string>& words) const;
    Result<Outcome> Call();
    Result<Outcome> CallGetInfo();
    Result<Outcome> CallNetInfo();
    Result<Outcome> CallAddrInfo();
    Result<Outcome> CallGenerate();
    /** The body of the answer; with -rpcwait, tries until the node is ready. */
    Result<UniValue> Exchange(const UniValue& request, const std::optional<std::string>& wallet);
    Result<UniValue> ExchangeOnce(const UniValue& request, const std::optional<std::string>& wallet,
                                  bool& may_pass);
    Result<Reply> CallOne(const std::string& method, const std::optional<std::string>& wallet);
    static Outcome Interpret(const Reply& reply);
    int Fail(const std::string& message)
    {
        m_streams.error << "error: " << message << "\n";
        return EXIT_FAILURE;
    }

    Env& m_env;
    CliStreams m_streams;
    ArgsManager m_args;
    DataPaths m_paths;
    CliOptions m_options;
    HttpTarget m_target;
    std::vector<std::string> m_words; //!< method and arguments
    Special m_special = Special::kNone;
    bool m_color = false;
};

int Cli::Run(int argc, const char* const argv[])
{
    AddCliOptions(m_args);
    const auto parsed = m_args.ParseCommandLine(argc, argv);
    if (!parsed.Ok()) {
        m_streams.error << "Error parsing command line arguments: " << parsed.Message() << "\n";
        return EXIT_FAILURE;
    }
    const bool help = m_args.IsSet("-help") || m_args.IsSet("-h") || m_args.IsSet("-?");
    if (argc < 2 || help) {
        m_streams.out << UsageText(m_args);
        if (help) return EXIT_SUCCESS;
        m_streams.error << "Error: too few parameters\n";
        return EXIT_FAILURE;
    }
    if (m_args.GetBool("-version", false)) {
        m_streams.out << fmt::format("{} RPC client version v{}\n", kProjectName, kVersion);
        return EXIT_SUCCESS;
    }
    if (const auto datadir = m_args.Get("-datadir"); datadir && !m_env.Exists(*datadir)) {
        m_streams.error << fmt::format("Error: Specified data directory \"{}\" does not exist.\n",
                                       *datadir);
        return EXIT_FAILURE;
    }
    auto paths = LoadConfiguration(m_env, m_args);
    if (!paths.Ok()) {
        const bool says = paths.Message().starts_with(kConfigFileError);
        m_streams.error << (says ? "" : "Error: ") << paths.Message() << "\n";
        return EXIT_FAILURE;
    }
    m_paths = *paths;
    const auto prepared = Prepare();
    if (!prepared.Ok()) return Fail(prepared.Message());
    const auto outcome = Call();
    if (!outcome.Ok()) return Fail(outcome.Message());
    if (!outcome->out.empty()) m_streams.out << outcome->out << "\n";
    if (!outcome->error.empty()) m_streams.error << outcome->error << "\n";
    return outcome->exit_code;
}

Result<> Cli::ReadStandardInput()
{
    std::string line;
    if (m_options.read_password) {
        if (!std::getline(m_streams.in, line)) {
            return BadData("-stdinrpcpass specified but failed to read from standard input");
        }
        SetPassword(m_args, line);
    }
    m_words = m_args.Command();
    if (m_options.read_passphrase) {
        if (m_words.empty() || !m_words[0].starts_with("walletpassphrase")) {
            return BadData("-stdinwalletpassphrase is only applicable for "
                           "walletpassphrase(change)");
        }
        if (!std::getline(m_streams.in, line)) {
            return BadData(
                "-stdinwalletpassphrase specified but failed to read from standard input");
        }
        m_words.insert(m_words.begin() + 1, line);
    }
    while (m_options.read_words && std::getline(m_streams.in, line)) m_words.push_back(line);
    return {};
}

Result<> Cli::Prepare()
{
    IBD_ASSIGN_OR_RETURN(m_options, ReadCliOptions(m_args));
    IBD_RETURN_IF_ERROR(ReadStandardInput());
    IBD_RETURN_IF_ERROR(CheckOneSpecial(m_args));
    if (m_options.get_info) {
        m_special = Special::kGetInfo;
        if (!m_words.empty()) return BadData("-getinfo takes no arguments");
    } else if (m_options.net_info) {
        m_special = Special::kNetInfo;
    } else if (m_options.address_info) {
        m_special = Special::kAddrInfo;
        if (!m_words.empty()) return BadData("-addrinfo takes no arguments");
    } else if (m_options.generate) {
        m_special = Special::kGenerate;
    } else if (m_words.empty()) {
        return BadData("too few parameters (need at least command)");
    }
    const std::string& color = m_options.color;
    if (color != "always" && color != "never" && color != "auto") {
        return BadData("Invalid value for -color option. Valid values: always, auto, never.");
    }
    m_color = color == "always" || (color == "auto" && m_streams.out_is_terminal);
    IBD_RETURN_IF_ERROR(CheckIpc(m_args));
    IBD_ASSIGN_OR_RETURN(m_target, ReadTarget(m_args, m_paths, m_streams.error));
    m_target.timeout_seconds = m_options.timeout_seconds;
    return {};
}

Result<UniValue> Cli::Request(const std::string& method,
                              const std::vector<std::string>& words) const
{
    IBD_ASSIGN_OR_RETURN(const UniValue params, m_options.named ? ConvertNamed(method, words)
                                                                : ConvertPositional(method, words));
    return MakeRequest(method, params, m_options.id);
}

Result<UniValue> Cli::Exchange(const UniValue& request, const std::optional<std::string>& wallet)
{
    const int64_t limit = m_options.wait_seconds;
    const int64_t start = m_env.MonotonicMicros();
    for (;;) {
        bool may_pass = false;
        auto reply = ExchangeOnce(request, wallet, may_pass);
        if (!m_options.wait) return reply;
        if (reply.Ok() && IsWarmup(*reply)) {
            may_pass = true;
            reply = BadData("server in warmup");
        }
        if (!may_pass) return reply;
        if (limit > 0 && m_env.MonotonicMicros() - start >= limit * 1'000'000) {
            return BadData("timeout on transient error: {}", reply.Message());
        }
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
}

// `may_pass`: set if a further attempt may succeed.
Result<UniValue> Cli::ExchangeOnce(const UniValue& request,
                                   const std::optional<std::string>& wallet, bool& may_pass)
{
    // Read at each attempt, because with -rpcwait the cookie may be written later.
    m_target.login = ReadLogin(m_env, m_args, m_paths);
    const HttpAnswer answer = Post(m_target, WalletPath(wallet), request.write() + "\n");
    if (answer.status == 0) {
        may_pass = true;
        return BadData("Error while attempting to communicate with server {}:{} ({})\n\nMake sure "
                       "the bitcoind server is running and that you are connecting to the correct "
                       "RPC port.\nUse \"bitcoin-cli -help\" for more info.",
                       m_target.host, m_target.port, answer.body);
    }
    constexpr int kUnauthorized = 401, kUnavailable = 503;
    if (answer.status == kUnauthorized) {
        // A starting node wrote its cookie after the client read it.
        may_pass = ReadLogin(m_env, m_args, m_paths) != m_target.login;
        return BadData("{}", LoginRefused(m_args, m_paths, m_target.login));
    }
    if (answer.status == kUnavailable) return BadData("Server response: {}", answer.body);
    const bool has_error = answer.status == 400 || answer.status == 404 || answer.status == 500;
    if (answer.status >= 400 && !has_error) {
        return BadData("server returned HTTP error {}", answer.status);
    }
    if (answer.body.empty()) return BadData("no response from server");
    UniValue reply;
    if (!reply.read(answer.body)) return BadData("couldn't parse reply from server");
    if (reply.empty()) {
        return BadData("expected reply to have result, error and id properties");
    }
    return reply;
}

Result<Reply> Cli::CallOne(const std::string& method, const std::optional<std::string>& wallet)
{
    IBD_ASSIGN_OR_RETURN(const UniValue reply,
                         Exchange(MakeRequest(method, UniValue(UniValue::VARR), "1"), wallet));
    return Reply{reply["result"], reply["error"]};
}

Result<Outcome> Cli::Call()
{
    if (m_special == Special::kGetInfo) return CallGetInfo();
    if (m_special == Special::kNetInfo) return CallNetInfo();
    if (m_special == Special::kAddrInfo) return CallAddrInfo();
    if (m_special == Special::kGenerate) return CallGenerate();
    const std::vector<std::string> words(m_words.begin() + 1, m_words.end());
    IBD_ASSIGN_OR_RETURN(const UniValue request, Request(m_words[0], words));
    IBD_ASSIGN_OR_RETURN(const UniValue reply, Exchange(request, m_options.wallet));
    return Interpret({reply["result"], reply["error"]});
}

Result<Outcome> Cli::CallGetInfo()
{
    IBD_ASSIGN_OR_RETURN(const UniValue answers, Exchange(GetInfoBatch(), m_options.wallet));
    IBD_ASSIGN_OR_RETURN(GetInfoAnswers info, ReadGetInfo(answers));
    if (!info.error.isNull()) return Interpret({UniValue(), info.error});
    if (!m_options.wallet) {
        IBD_ASSIGN_OR_RETURN(const Reply wallets, CallOne("listwallets", {}));
        if (wallets.error.isNull() && wallets.result.size() > 1) {
            for (const UniValue& wallet : wallets.result.getValues()) {
                const std::string& name = wallet.getValStr();
                IBD_ASSIGN_OR_RETURN(const Reply balances, CallOne("getbalances", name));
                info.balances.emplace_back(name, balances.result["mine"]["trusted"].getValStr());
            }
        }
    }
    return Interpret({GetInfoText(info, m_color), UniValue()});
}

Result<Outcome> Cli::CallNetInfo()
{
    IBD_ASSIGN_OR_RETURN(const NetInfoOptions options, ReadNetInfoWords(m_words));
    if (options.help) return Interpret({NetInfoHelp(), UniValue()});
    IBD_ASSIGN_OR_RETURN(const UniValue answers, Exchange(NetInfoBatch(), m_options.wallet));
    IBD_ASSIGN_OR_RETURN(const NetInfoAnswers info, ReadNetInfo(answers));
    if (!info.error.isNull()) return Interpret({UniValue(), info.error});
    const std::string& chain = m_paths.chain;
    const std::string name = chain == "main" ? "" : chain == "test" ? " testnet" : " " + chain;
    const std::string title = fmt::format("{} client v{}{}", kProjectName, kVersion, name);
    return Interpret({NetInfoText(info, options, title, m_env.UnixTime()), UniValue()});
}

Result<Outcome> Cli::CallAddrInfo()
{
    IBD_ASSIGN_OR_RETURN(const Reply reply, CallOne("getaddrmaninfo", m_options.wallet));
    if (!reply.error.isNull()) return Interpret(reply);
    return Interpret({AddrInfo(reply.result), UniValue()});
}

Result<Outcome> Cli::CallGenerate()
{
    IBD_ASSIGN_OR_RETURN(const Reply address, CallOne("getnewaddress", m_options.wallet));
    if (!address.error.isNull()) return Interpret(address);
    if (m_words.size() > 2) {
        return BadData("too many arguments (maximum 2 for nblocks and maxtries)");
    }
    std::vector<std::string> words = m_words;
    if (words.empty()) words.emplace_back("1");
    if (words[0] == "0") {
        return BadData("the first argument (number of blocks to generate, default: 1) must be an "
                       "integer value greater than zero");
    }
    words.insert(words.begin() + 1, address.result.getValStr());
    IBD_ASSIGN_OR_RETURN(const UniValue params, ConvertPositional("generatetoaddress", words));
    IBD_ASSIGN_OR_RETURN(
        const UniValue reply,
        Exchange(MakeRequest("generatetoaddress", params, UniValue(1)), m_options.wallet));
    if (!reply["error"].isNull()) return Interpret({UniValue(), reply["error"]});
    UniValue result(UniValue::VOBJ);
    result.pushKV("address", words[1]);
    result.pushKV("blocks", reply["result"]);
    return Interpret({result, UniValue()});
}

std::string ErrorText(const UniValue& error)
{
    if (!error.isObject()) return "error: " + error.write();
    std::string text;
    if (!error["code"].isNull()) text = "error code: " + error["code"].getValStr() + "\n";
    if (error["message"].isStr()) text += "error message:\n" + error["message"].getValStr();
    constexpr const char* kWalletNotSpecified = "-19";
    if (error["code"].getValStr() == kWalletNotSpecified) {
        text +=
            " Or for the CLI, specify the \"-rpcwallet=<walletname>\" option before the command "
            "(run \"bitcoin-cli -h\" for help or \"bitcoin-cli listwallets\" to see which "
            "wallets are currently loaded).";
    }
    return text;
}

Outcome Cli::Interpret(const Reply& reply)
{
    Outcome outcome;
    if (reply.error.isNull()) {
        outcome.exit_code = EXIT_SUCCESS;
        if (!reply.result.isNull()) {
            outcome.out = reply.result.isStr() ? reply.result.getValStr() : reply.result.write(2);
        }
        return outcome;
    }
    outcome.error = ErrorText(reply.error);
    const auto code = ParseInteger<int>(reply.error["code"].getValStr());
    outcome.exit_code = code ? std::abs(*code) : EXIT_FAILURE;
    return outcome;
}

} // namespace

int RunCli(Env& env, int argc, const char* const argv[], const CliStreams& streams)
{
    try {
        return Cli(env, streams).Run(argc, argv);
    } catch (const std::exception& error) { // an answer with members of other types
        streams.error << "error: " << error.what() << '\n';
        return 1;
    }
}

} // namespace ibd
