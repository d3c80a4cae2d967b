// bitcoind: the entry point of the node - options, daemon, signals, exit status.
#include "crypto/secp256k1_version.h"
#include "node/last_words.h"
#include "node/node.h"
#include "node/settings.h"
#include "util/version.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ibd {

namespace {

int Fail(const std::string& message)
{
    fmt::print(stderr, "Error: {}\n", message);
    return EXIT_FAILURE;
}

LogOptions ReadLogOptions(const ArgsManager& args, const Path& net_dir, bool daemon)
{
    LogOptions options;
    if (!args.IsNegated("-debuglogfile")) {
        options.file = LogPath(args, net_dir);
    }
    options.to_console = args.GetBool("-printtoconsole", !daemon);
    options.timestamps = args.GetBool("-logtimestamps", true);
    options.time_micros = args.GetBool("-logtimemicros", false);
    options.thread_names = args.GetBool("-logthreadnames", false);
    options.always_level = args.GetBool("-loglevelalways", false);
    options.shrink_at_start = args.GetBool("-shrinkdebugfile", !args.IsSet("-debug"));
    return options;
}

Result<> SetLogLevels(const ArgsManager& args, FileLogger& log)
{
    for (const std::string& name : args.GetAll("-debug")) {
        const auto category = ParseLogCategory(name);
        if (!category) return BadData("-debug={}: there is no such category", name);
        log.Enable(*category);
    }
    for (const std::string& name : args.GetAll("-debugexclude")) {
        const auto category = ParseLogCategory(name);
        if (!category) return BadData("-debugexclude={}: there is no such category", name);
        log.Disable(*category);
    }
    for (const std::string& value : args.GetAll("-loglevel")) {
        const size_t colon = value.find(':');
        const auto level =
            ParseLogLevel(colon == std::string::npos ? value : value.substr(colon + 1));
        const auto category = colon == std::string::npos ? std::optional(LogCategory::kAll)
                                                         : ParseLogCategory(value.substr(0, colon));
        if (!level || !category) return BadData("-loglevel={}: no such level or category", value);
        colon == std::string::npos ? log.SetLevel(*level) : log.SetLevel(*category, *level);
    }
    return {};
}

/** Waits for signals on a thread of its own: SIGINT and SIGTERM stop the node, SIGHUP reopens the
 *  log. All are blocked in every other thread. */
class SignalWaiter {
public:
    SignalWaiter()
    {
        sigemptyset(&m_set);
        for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&m_set, signal);
        pthread_sigmask(SIG_BLOCK, &m_set, nullptr);
        std::signal(SIGPIPE, SIG_IGN);
    }
    void Start(Node& node, FileLogger& log)
    {
        m_thread = NamedThread("signals", [this, &node, &log] {
            int signal = 0;
            while (sigwait(&m_set, &signal) == 0 && signal != SIGUSR1) {
                signal == SIGHUP ? log.RequestReopen() : node.RequestStop();
            }
        });
    }
    ~SignalWaiter()
    {
        kill(getpid(), SIGUSR1);
        m_thread.Join();
    }

private:
    sigset_t m_set;
    NamedThread m_thread;
};

/** Forks; the parent exits, with `wait` only after the child said how its start went. Returns the
 *  child's end of the pipe, or -1. */
int Daemonize(bool wait)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    const pid_t child = fork();
    if (child < 0) return -1;
    if (child > 0) {
        close(ends[1]);
        uint8_t status = EXIT_SUCCESS;
        if (wait && read(ends[0], &status, 1) != 1) status = EXIT_FAILURE;
        std::_Exit(status);
    }
    close(ends[0]);
    setsid();
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd : {STDIN_FILENO, STDOUT_FILENO}) dup2(null, fd);
    if (!wait) dup2(null, STDERR_FILENO);
    return ends[1];
}

/** Nothing with -nopid. */
std::optional<Path> PidFile(const ArgsManager& args, const Path& net_dir)
{
    if (args.IsNegated("-pid")) return std::nullopt;
    return net_dir / args.Get("-pid", "bitcoind.pid");
}

Result<> WritePidFile(Env& env, const Path& path)
{
    const auto written = WriteFileAtomically(env, path, AsBytes(fmt::format("{}\n", getpid())));
    if (written) return {};
    return SystemError("cannot write the file of the process id (-pid): {}", written.Message());
}

void LogStart(const ArgsManager& args, const DataPaths& paths, const ChainParams& params,
              const std::string& ignored_config, FileLogger& log)
{
    log.Info("{} version v{}", kProjectName, kVersion);
    log.Info("Using data directory {}", paths.Network().string());
    const char* state = "";
    if (args.IsNegated("-conf")) {
        state = " (not read)";
    } else if (!std::filesystem::exists(paths.config)) {
        state = " (not there)";
    }
    log.Info("Config file: {}{}", paths.config.string(), state);
    for (const std::string& line : args.DescribeForLog()) log.Info("{}", line);
    for (const std::string& line : args.Warnings()) log.Warning("{}", line);
    if (!ignored_config.empty()) log.Warning("{}", ignored_config);
    if (const auto names = OptionsWithoutEffect(args); !names.empty()) {
        log.Warning("options without effect, as this version has no peers, pool, wallet, REST or "
                    "ZMQ: {}",
                    fmt::join(names, " "));
    }
    log.Info("Network: {}; SHA-256: {}", params.name, Sha256Implementation());
}

Result<> RunNode(Env& env, std::atomic<int64_t>& mock_time, const ArgsManager& args,
                 const DataPaths& paths, const std::function<void()>& started, bool daemon)
{
    IBD_ASSIGN_OR_RETURN(const ChainParams params, ReadChainParams(args, paths.chain));
    IBD_ASSIGN_OR_RETURN(NodeOptions options, ReadNodeOptions(args, params, paths.Network()));
    options.mock_time = &mock_time;
    if (!env.Exists(paths.base)) IBD_RETURN_IF_ERROR(env.CreateDirectories(paths.base));
    IBD_ASSIGN_OR_RETURN(
        const auto dir,
        DataDir::Open(env, {paths.base, options.blocks_dir.value_or(Path()), paths.folder}));
    const LogOptions log_options = ReadLogOptions(args, dir->Net(), daemon);
    IBD_ASSIGN_OR_RETURN(const auto log, FileLogger::Open(env, log_options));
    if (log_options.file) SetLastWordsLog(*log_options.file);
    IBD_RETURN_IF_ERROR(SetLogLevels(args, *log));
    LogStart(args, paths, params, IgnoredConfig(env, args, paths), *log);
    const std::optional<Path> pid_file = PidFile(args, dir->Net());
    if (pid_file) IBD_RETURN_IF_ERROR(WritePidFile(env, *pid_file));
    Result<> result;
    {
        SignalWaiter signals;
        Node node(env, *log, args, paths, params, *dir, std::move(options));
        signals.Start(node, *log);
        result = node.Run(started);
    }
    if (!result) log->Error("{}", result.Message());
    if (pid_file) (void)env.Remove(*pid_file);
    return result;
}

/** bitcoin.conf and settings.json; refuses what would silently not count. */
Result<DataPaths> ReadConfiguration(Env& env, ArgsManager& args)
{
    IBD_ASSIGN_OR_RETURN(DataPaths paths, LoadConfiguration(env, args));
    const std::string ignored = IgnoredConfig(env, args, paths);
    if (!ignored.empty() && !args.GetBool("-allowignoredconf", false)) {
        return BadData("{} (-allowignoredconf goes on in spite of it)", ignored);
    }
    IBD_RETURN_IF_ERROR(ReadSettingsFile(env, args, paths.Network()));
    const std::string misplaced = MisplacedOptions(args, paths);
    if (!misplaced.empty()) return BadData("{}", misplaced);
    return paths;
}

int Main(int argc, char* argv[])
{
    std::atomic<int64_t> mock_time{0};
    const auto env = MakePosixEnv(&mock_time);
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    AddRpcOptions(args);
    if (auto parsed = args.ParseCommandLine(argc, argv); !parsed) return Fail(parsed.Message());
    const bool all = args.IsSet("-help-debug");
    if (all || args.IsSet("-help") || args.IsSet("-h") || args.IsSet("-?")) {
        fmt::print("{} version v{}\n\nUsage: bitcoind [options]\n\n{}", kProjectName, kVersion,
                   args.Help(all));
        return EXIT_SUCCESS;
    }
    if (args.GetBool("-version", false)) {
        fmt::print("{} version v{}\nlibsecp256k1 {}\n", kProjectName, kVersion, Secp256k1Version());
        return EXIT_SUCCESS;
    }
    if (!args.Command().empty()) {
        return Fail(fmt::format("'{}' is no option; bitcoind takes options only, for commands see "
                                "bitcoin-cli",
                                args.Command()[0]));
    }
    const auto paths = ReadConfiguration(*env, args);
    if (!paths) return Fail(paths.Message());
    mock_time = args.GetInt("-mocktime", 0);
    if (mock_time < 0) return Fail("-mocktime: must not be negative");

    const bool wait = args.GetBool("-daemonwait", false);
    const bool daemon = wait || args.GetBool("-daemon", false);
    std::atomic<int> pipe_end{-1};
    if (daemon) {
        fmt::print("{} starting\n", kProjectName);
        std::fflush(stdout);
        pipe_end = Daemonize(wait);
        if (pipe_end < 0) return Fail("cannot go to the background");
    }
    const auto tell = [&](uint8_t status) {
        const int end = pipe_end.exchange(-1);
        if (end < 0) return;
        (void)!write(end, &status, 1);
        close(end);
        // Whoever reads what the start has to say must see its end.
        const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDERR_FILENO);
        close(null);
    };
    const Result<> result = RunNode(
        *env, mock_time, args, *paths, [&] { tell(EXIT_SUCCESS); }, daemon);
    const int status = result ? EXIT_SUCCESS : Fail(result.Message());
    tell(static_cast<uint8_t>(status));
    return status;
}

} // namespace

} // namespace ibd

int main(int argc, char* argv[])
{
    ibd::InstallLastWords();
    umask(077); // what the node writes is the user's alone, as with Core
    return ibd::Main(argc, argv);
}
