// bitcoind: the entry point of the node: options, daemon, signals, exit status.
#include "crypto/secp256k1_version.h"
#include "crypto/signature_batch.h"
#include "net/network_config.h"
#include "node/node.h"
#include "node/option_table.h"
#include "node/parameter_interaction.h"
#include "node/start_checks.h"
#include "node/start_config.h"
#include "node/start_log.h"
#include "rpc/server_options.h"
#include "util/last_words.h"
#include "util/process.h"
#include "util/version.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace ibd {

namespace {

int Fail(const std::string& message)
{
    Print(stderr, "Error: {}\n", message);
    return EXIT_FAILURE;
}

Result<LogOptions> ReadLogOptions(const ArgsManager& args, const Path& net_dir,
                                  const FileLogger& log)
{
    LogOptions options;
    if (!args.IsNegated("-debuglogfile")) {
        options.file = LogPath(args, net_dir);
    }
    options.to_console = !args.GetBool("-daemon", false);
    options.shrink_at_start = !log.Enabled(LogCategory::kAll);
    IBD_RETURN_IF_ERROR(ReadRows(args, LogTopic().rows, options));
    return options;
}

/** Signals that the node handles. They are blocked in this thread and in all threads it starts. */
class NodeSignals {
public:
    NodeSignals()
    {
        sigemptyset(&m_set);
        for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&m_set, signal);
        pthread_sigmask(SIG_BLOCK, &m_set, nullptr);
    }
    const sigset_t& Set() const { return m_set; }

private:
    sigset_t m_set;
};

/** Waits for signals on a thread of its own: SIGINT and SIGTERM stop the node, SIGHUP reopens the
 *  log, SIGCHLD means that a command has ended. Destroyed before the node, which it calls. */
class SignalWaiter {
public:
    SignalWaiter(const NodeSignals& signals, Node& node, FileLogger& log)
        : m_thread("signals", [this, set = signals.Set(), &node, &log] {
              int signal = 0;
              while (sigwait(&set, &signal) == 0 && !m_ending) Handle(signal, node, log);
          })
    {
    }
    ~SignalWaiter()
    {
        m_ending = true;
        kill(getpid(), SIGCHLD); // wakes the thread
        m_thread.Join();
    }
    SignalWaiter(const SignalWaiter&) = delete;
    SignalWaiter& operator=(const SignalWaiter&) = delete;

private:
    static void Handle(int signal, Node& node, FileLogger& log)
    {
        switch (signal) {
        case SIGHUP: log.RequestReopen(); break;
        case SIGCHLD: node.CollectCommands(); break;
        default: node.RequestStop();
        }
    }

    std::atomic<bool> m_ending{false};
    NamedThread m_thread;
};

/** Forks; the parent exits, with `wait` only after the child reported the result of its start.
 *  Returns the child's end of the pipe, or -1. */
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
        if (status != EXIT_SUCCESS) {
            Print(stderr, "Error during initialization - check debug.log for details\n");
        }
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
    return net_dir / args.GetPath("-pid", "bitcoind.pid");
}

Result<> WritePidFile(Env& env, const Path& path)
{
    // Non-blocking, since a pipe would block the start.
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC;
    const int file = open(path.c_str(), flags, 0666);
    if (file < 0) {
        return SystemError("Unable to create the PID file '{}': {} ({})", path.string(),
                           std::generic_category().message(errno), errno);
    }
    const std::string line = fmt::format("{}\n", getpid());
    (void)!write(file, line.data(), line.size());
    close(file);
    return env.SyncDirectory(FolderOf(path));
}

/** A start, from the configuration to the end of the process. */
class Start {
public:
    Start(Env& env, std::atomic<int64_t>& mock_time, ArgsManager& args, StartConfig config)
        : m_env(env), m_mock_time(mock_time), m_args(args), m_config(std::move(config)),
          m_log(env, &mock_time)
    {
    }

    /** The checks whose errors are reported before the program goes to the background. */
    Result<> Prepare();
    Result<> Run(const std::function<void()>& started);
    /** Reports the end of the start or the node, on stderr and in the log; returns the status. */
    int Report(const Result<>& result);

private:
    Result<std::unique_ptr<DataDir>> OpenDataDir() const;
    Result<> RunNode(DataDir& dir, const std::function<void()>& started);
    void LogStart();
    void ChooseSignatureVerifier();

    Env& m_env;
    std::atomic<int64_t>& m_mock_time;
    ArgsManager& m_args;
    StartConfig m_config;
    NodeOptions m_options;
    FileLogger m_log;
    std::optional<NodeSignals> m_signals; //!< from Run() on, before the node's threads
    bool m_uncaptioned = false; //!< the failure asks the user a question and is not an error
};

Result<std::unique_ptr<DataDir>> Start::OpenDataDir() const
{
    const DataPaths& paths = m_config.paths;
    return DataDir::Open(m_env, {.base = paths.base,
                                 .blocks_base = m_options.blocks_dir.value_or(Path()),
                                 .folder = paths.folder,
                                 .chainstate_base = m_options.chainstate_dir,
                                 .index_base = m_options.index_dir});
}

Result<> Start::Prepare()
{
    LogConfigOddities(m_args, m_config, m_log);
    LogDeployments(m_args, m_log);
    m_log.Info("{} version v{}", kProjectName, kVersion);
    ApplyParameterInteraction(m_args, m_log);
    const ChainParams& params = m_config.params;
    IBD_RETURN_IF_ERROR(CheckParameters(m_args, params, m_log));
    m_mock_time = m_args.GetInt("-mocktime", 0);
    IBD_ASSIGN_OR_RETURN(
        m_options, ReadNodeOptions(m_args, params, m_config.paths.Network(), MachineMemory()));
    m_options.mock_time = &m_mock_time;
    LogRelayFee(m_args, m_options.policy, m_log);
    m_log.Info("Using the '{}' SHA256 implementation", Sha256Implementation());
    ChooseSignatureVerifier();
    // Releases the locks again: they would not survive the fork.
    IBD_ASSIGN_OR_RETURN(const auto probe, OpenDataDir());
    return {};
}

/** Disables the vector lanes if the processor has none, or computes wrongly. */
void Start::ChooseSignatureVerifier()
{
    LanesMode& mode = m_options.booster.signature_lanes;
    const LanesChoice usable = UsableLanes(mode);
    if (usable.warning) InitWarning(m_log, usable.warning);
    mode = usable.mode;
    m_log.Info("Signatures up to the assumed-valid block, where they are not skipped, are verified "
               "with {}",
               SignatureVerifierName(mode));
}

void Start::LogStart()
{
    LogConfig(m_env, m_args, m_config, m_log);
    if (!m_args.GetBool("-logratelimit", true)) m_log.Info("Log rate limiting disabled");
    if (const auto names = OptionsWithoutEffect(m_args); !names.empty()) {
        m_log.Warning("options without effect in this version: {}", fmt::join(names, " "));
    }
    if (const std::string text = DbCacheWarning(m_args, MachineMemory()); !text.empty()) {
        InitWarning(m_log, text);
    }
}

Result<> Start::RunNode(DataDir& dir, const std::function<void()>& started)
{
    const NetworkConfigSource source{m_args, m_config.params, m_env, m_log, dir.Net()};
    IBD_ASSIGN_OR_RETURN(m_options.network, ReadNetworkOptions(source));
    IBD_RETURN_IF_ERROR(ReadListenOptions(source, m_options.network));
    if (m_options.network.private_broadcast && !m_args.GetBool("-proxyrandomize", true)) {
        InitWarning(m_log, "Private broadcast of own transactions requested (-privatebroadcast) "
                           "and -proxyrandomize is disabled. Tor circuits for private broadcast "
                           "connections may be correlated to other connections over Tor. For "
                           "maximum privacy set -proxyrandomize=1.");
    }
    m_options.network.peers.minimum_work = m_options.minimum_work;
    Node node(m_env, m_log, m_args, m_config.paths, m_config.params, dir, m_options);
    const SignalWaiter waiter(*m_signals, node, m_log);
    const Result<> result = node.Run(started);
    m_uncaptioned = node.AsksForReindex();
    return result;
}

Result<> Start::Run(const std::function<void()>& started)
{
    m_signals.emplace();
    IBD_ASSIGN_OR_RETURN(const auto dir, OpenDataDir());
    IBD_RETURN_IF_ERROR(ReadUploadTarget(m_args)); // before the log opens, as in Core
    IBD_ASSIGN_OR_RETURN(const auto log_options, ReadLogOptions(m_args, dir->Net(), m_log));
    const std::optional<Path> pid_file = PidFile(m_args, dir->Net());
    if (pid_file) IBD_RETURN_IF_ERROR(WritePidFile(m_env, *pid_file));
    Result<> result = m_log.Start(log_options);
    if (result) {
        if (log_options.file) SetLastWordsLog(*log_options.file);
        LogStart();
        result = RunNode(*dir, started);
    }
    if (pid_file) (void)m_env.Remove(*pid_file);
    return result;
}

int Start::Report(const Result<>& result)
{
    if (result) return EXIT_SUCCESS;
    if (m_uncaptioned) {
        LogLines(m_log, LogLevel::kInfo, result.Message());
        Print(stderr, "{}\n", result.Message());
        return EXIT_FAILURE;
    }
    InitError(m_log, result.Message());
    return EXIT_FAILURE;
}

/** Handles -help and -version; returns whether one was given. */
bool TellAboutProgram(const ArgsManager& args)
{
    const bool version = args.GetBool("-version", false);
    if (!version && !HelpRequested(args)) return false;
    Print(stdout, "{} version v{}\n", kProjectName, kVersion);
    if (version) {
        Print(stdout, "libsecp256k1 {}\n", Secp256k1Version());
    } else {
        Print(stdout, "\nUsage: bitcoind [options]\n\n{}",
                   args.Help(args.GetBool("-help-debug", false)));
    }
    return true;
}

int Main(int argc, char* argv[])
{
    SetThreadNameInLog("init");
    std::atomic<int64_t> mock_time{0};
    const auto env = MakePosixEnv(&mock_time);
    ArgsManager args;
    AddCommonOptions(args);
    AddNodeOptions(args);
    AddRpcOptions(args);
    if (const auto parsed = args.ParseCommandLine(argc, argv); !parsed) {
        return Fail("Error parsing command line arguments: " + parsed.Message());
    }
    auto config = InitConfig(*env, args);
    if (!config) return Fail(config.Message());
    for (const std::string& name : args.IgnoredIncludes()) {
        Print(stderr,
                   "warning: -includeconf cannot be used from included files; ignoring "
                   "-includeconf={}\n",
                   name);
    }
    for (const std::string& word : args.Command()) {
        if (word.starts_with('-')) continue;
        return Fail(
            fmt::format("Command line contains unexpected token '{}', see bitcoind -h for a "
                        "list of options.",
                        word));
    }
    if (TellAboutProgram(args)) return EXIT_SUCCESS;
    Start start(*env, mock_time, args, std::move(config).Value());
    if (const auto prepared = start.Prepare(); !prepared) return start.Report(prepared);

    const bool wait = args.GetBool("-daemonwait", false);
    const bool daemon = wait || args.GetBool("-daemon", false);
    std::atomic<int> pipe_end{-1};
    if (daemon) {
        Print(stdout, "{} starting\n", kProjectName);
        std::fflush(stdout);
        pipe_end = Daemonize(wait);
        if (pipe_end < 0)
            return Fail(fmt::format("fork_daemon() failed: {} ({})",
                                    std::generic_category().message(errno), errno));
    }
    const auto tell = [&](uint8_t status) {
        const int end = pipe_end.exchange(-1);
        if (end < 0) return;
        (void)!write(end, &status, 1);
        close(end);
        // Closes the output, for readers of the start's messages.
        const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDERR_FILENO);
        close(null);
    };
    const int status = start.Report(start.Run([&] { tell(EXIT_SUCCESS); }));
    tell(static_cast<uint8_t>(status));
    return status;
}

} // namespace

} // namespace ibd

int main(int argc, char* argv[])
{
    ibd::PrepareProcess(ibd::BrokenPipe::kFailsWrite);
    ibd::MergeFreedMemoryAtOnce();
    ibd::InstallLastWords();
    umask(077); // as in Core, files are only for the user
    return ibd::Main(argc, argv);
}
