// See log_file.h.
#include "util/log_file.h"
#include "util/strings.h"
#include "util/threads.h"

#include <bit>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace ibd {

namespace {

constexpr LogCategoryName kCategories[] = {
    {LogCategory::kAddrman, "addrman"},
    {LogCategory::kBench, "bench"},
    {LogCategory::kBlockStorage, "blockstorage"},
    {LogCategory::kBooster, "booster"},
    {LogCategory::kCmpctBlock, "cmpctblock"},
    {LogCategory::kCoinDb, "coindb"},
    {LogCategory::kEstimateFee, "estimatefee"},
    {LogCategory::kHttp, "http"},
    {LogCategory::kI2p, "i2p"},
    {LogCategory::kIpc, "ipc"},
    {LogCategory::kKernel, "kernel"},
    {LogCategory::kLevelDb, "leveldb"},
    {LogCategory::kMempool, "mempool"},
    {LogCategory::kMempoolRej, "mempoolrej"},
    {LogCategory::kNet, "net"},
    {LogCategory::kPrivateBroadcast, "privatebroadcast"},
    {LogCategory::kProxy, "proxy"},
    {LogCategory::kPrune, "prune"},
    {LogCategory::kQt, "qt"},
    {LogCategory::kRand, "rand"},
    {LogCategory::kReindex, "reindex"},
    {LogCategory::kRpc, "rpc"},
    {LogCategory::kScan, "scan"},
    {LogCategory::kSelectCoins, "selectcoins"},
    {LogCategory::kTor, "tor"},
    {LogCategory::kTxPackages, "txpackages"},
    {LogCategory::kTxReconciliation, "txreconciliation"},
    {LogCategory::kValidation, "validation"},
    {LogCategory::kWalletDb, "walletdb"},
    {LogCategory::kZmq, "zmq"},
};

std::string_view CategoryName(LogCategory category)
{
    for (const auto& [c, name] : kCategories) {
        if (c == category) return name;
    }
    return "all";
}

/** A source file's path relative to src, for the log. */
std::string_view BelowSrc(std::string_view file)
{
    constexpr std::string_view kSrc = "src/";
    const size_t at = file.rfind(kSrc);
    return at == std::string_view::npos ? file : file.substr(at + kSrc.size());
}

/** A source position for a message of the logger. */
std::string Named(const LogPlace& place)
{
    return fmt::format("./{}:{} ({})", BelowSrc(place.file), place.line, place.function);
}

/** Writes as much as possible; a full disk must not stop the node. */
void WriteAll(int fd, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        text.remove_prefix(static_cast<size_t>(n));
    }
}

bool ConsoleIsTerminal() { return ::isatty(STDOUT_FILENO) == 1; }

} // namespace

std::span<const LogCategoryName> LogCategories() { return kCategories; }

std::string LogCategoryNames()
{
    std::string names;
    for (const auto& [category, name] : kCategories) {
        if (!names.empty()) names += ", ";
        names += name;
    }
    return names;
}

std::optional<LogCategory> ParseLogCategory(std::string_view name)
{
    if (name.empty() || name == "1" || name == "all") return LogCategory::kAll;
    if (name == "libevent") return LogCategory::kNone;
    for (const auto& [category, its_name] : kCategories) {
        if (its_name == name) return category;
    }
    return std::nullopt;
}

std::optional<LogLevel> ParseLogLevel(std::string_view name)
{
    for (int i = 0; i <= static_cast<int>(LogLevel::kError); ++i) {
        if (LogLevelName(static_cast<LogLevel>(i)) == name) return static_cast<LogLevel>(i);
    }
    return std::nullopt;
}

std::string_view LogLevelName(LogLevel level)
{
    static constexpr std::string_view kNames[] = {"trace", "debug", "info", "warning", "error"};
    return kNames[static_cast<int>(level)];
}

FileLogger::FileLogger(Env& env, const std::atomic<int64_t>* mock_time)
    : m_env(env), m_mock_time(mock_time)
{
    for (auto& level : m_category_levels) level = -1;
}

FileLogger::~FileLogger()
{
    if (m_fd >= 0) ::close(m_fd);
}

Result<std::unique_ptr<FileLogger>> FileLogger::Open(Env& env, const LogOptions& options)
{
    auto logger = std::make_unique<FileLogger>(env);
    IBD_RETURN_IF_ERROR(logger->Start(options));
    return logger;
}

Result<> FileLogger::Start(const LogOptions& options)
{
    const Lock lock(m_mutex);
    m_options = options;
    if (m_options.to_console && ConsoleIsTerminal()) m_progress_line.ShareWithLog();
    if (m_options.file) {
        const Result<> shrunk = m_options.shrink_at_start ? Shrink() : Result<>();
        IBD_RETURN_IF_ERROR(OpenFile());
        WriteAll(m_fd, "\n\n\n\n\n");
        if (!shrunk) {
            SayLocked(LogLevel::kWarning,
                      fmt::format("Failed to shrink debug log file: {}", shrunk.Message()));
        }
    }
    m_started = true;
    if (m_held_dropped > 0) {
        SayLocked(LogLevel::kInfo,
                  fmt::format("Early logging buffer overflowed, {} log lines discarded.",
                              m_held_dropped));
    }
    for (const Line& line : m_held) WriteLocked(line);
    m_held.clear();
    if (m_options.limit_rate) m_limiter.emplace(m_env.MonotonicMicros());
    return {};
}

Result<> FileLogger::OpenFile()
{
    // Non-blocking: a pipe without a reader is an error; a slow reader loses lines.
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC;
    const int fd = ::open(m_options.file->c_str(), flags, 0600);
    if (fd < 0) {
        return SystemError("Could not open debug log file {}", m_options.file->string());
    }
    if (m_fd >= 0) ::close(m_fd);
    m_fd = fd;
    return {};
}

// In place, because the file may have links, readers and a mode set by others, and its folder need
// not be writable. A crash meanwhile loses lines of earlier runs.
Result<> FileLogger::Shrink()
{
    IBD_ASSIGN_OR_RETURN(const FileKind kind, m_env.KindOf(*m_options.file));
    if (kind != FileKind::kRegular) return {};
    Bytes tail(kKeepBytes);
    {
        IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(*m_options.file));
        IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
        if (size <= kShrinkAbove) return {};
        IBD_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(size - kKeepBytes, tail));
        tail.resize(got);
    }
    // Starts at a whole line.
    const size_t line_end = AsChars(tail).find('\n');
    const size_t start = line_end == std::string_view::npos ? 0 : line_end + 1;
    const ByteSpan kept = ByteSpan(tail).subspan(start);
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenWrite(*m_options.file, /*truncate=*/false));
    IBD_RETURN_IF_ERROR(file->WriteAt(0, kept));
    return file->Truncate(kept.size());
}

void FileLogger::SetLevel(LogCategory category, LogLevel level)
{
    const auto mask = static_cast<uint64_t>(category);
    for (size_t bit = 0; bit < m_category_levels.size(); ++bit) {
        if (mask >> bit & 1) m_category_levels[bit] = static_cast<int>(level);
    }
}

bool FileLogger::Wants(LogLevel level, LogCategory category) const
{
    if (level >= LogLevel::kInfo) return true;
    if (!Enabled(category)) return false;
    const auto bit = static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(category)));
    const int own = m_category_levels[bit];
    return static_cast<int>(level) >= (own >= 0 ? own : static_cast<int>(m_level.load()));
}

std::string FileLogger::Prefix(LogLevel level, LogCategory category) const
{
    const bool has_category = m_options.always_level || category != LogCategory::kNone;
    if (!has_category && level == LogLevel::kInfo) return {};
    std::string prefix = "[";
    if (has_category) prefix += CategoryName(category);
    if (m_options.always_level || !has_category || level != LogLevel::kDebug) {
        if (has_category) prefix += ":";
        prefix += LogLevelName(level);
    }
    return prefix + "] ";
}

FileLogger::Line FileLogger::Dressed(const LogLine& said) const
{
    Line line{said, std::string(said.text), ThreadName(), m_env.UnixMicros(), 0};
    line.said.text = {};
    if (m_mock_time != nullptr) line.mock_seconds = m_mock_time->load();
    return line;
}

std::string FileLogger::Format(const Line& line) const
{
    std::string text;
    if (m_options.timestamps) {
        text = FormatIso8601(line.micros / 1'000'000);
        if (m_options.time_micros) {
            text.pop_back();
            text += fmt::format(".{:06}Z", line.micros % 1'000'000);
        }
        if (line.mock_seconds > 0) {
            text += fmt::format(" (mocktime: {})", FormatIso8601(line.mock_seconds));
        }
        text += ' ';
    }
    if (m_options.thread_names) {
        text += fmt::format("[{}] ", line.thread.empty() ? "unknown" : line.thread);
    }
    const LogLine& said = line.said;
    if (m_options.places) {
        text += fmt::format("[{}:{}] [{}] ", BelowSrc(said.place.file), said.place.line,
                            said.place.function);
    }
    return text + Prefix(said.level, said.category) + EscapeControl(line.text) + "\n";
}

void FileLogger::HoldLocked(Line line)
{
    m_held_bytes += sizeof(Line) + line.text.size();
    m_held.push_back(std::move(line));
    for (; m_held_bytes > kMaxHeldBytes; ++m_held_dropped) {
        m_held_bytes -= sizeof(Line) + m_held.front().text.size();
        m_held.pop_front();
    }
}

bool FileLogger::IsKeptLocked(const Line& line, std::string_view text)
{
    if (!m_limiter || !line.said.limited) return true;
    const auto verdict = m_limiter->Count(line.said.place, text.size());
    if (verdict == LogLimiter::Verdict::kWriteLast) {
        SayLocked(LogLevel::kWarning,
                  fmt::format("Excessive logging detected from {}: >{} bytes logged during the "
                              "last time window of {}s. Suppressing logging to disk from this "
                              "source location until time window resets. Console logging "
                              "unaffected. Last log entry.",
                              Named(line.said.place), LogLimiter::kMaxBytes,
                              LogLimiter::kWindowSeconds));
    }
    return verdict != LogLimiter::Verdict::kDrop;
}

void FileLogger::RenewLimitsLocked()
{
    if (!m_limiter) return;
    for (const auto& [place, bytes] : m_limiter->Renew(m_env.MonotonicMicros())) {
        SayLocked(
            LogLevel::kWarning,
            fmt::format("Restarting logging from {}: {} bytes were dropped during the last {}s.",
                        Named(place), bytes, LogLimiter::kWindowSeconds));
    }
}

// The lock is held, so Write() cannot be used.
void FileLogger::SayLocked(LogLevel level, std::string_view text, LogPlace place)
{
    WriteLocked(Dressed({level, LogCategory::kNone, place, false, text}));
}

void FileLogger::WriteToConsole(std::string_view text)
{
    const auto write = [&] { WriteAll(STDOUT_FILENO, text); };
    ConsoleIsTerminal() ? m_progress_line.PrintAbove(write) : write();
}

void FileLogger::WriteLocked(const Line& line)
{
    std::string text = Format(line);
    const bool is_kept = IsKeptLocked(line, text);
    // Marks that the log has gaps.
    if (m_limiter && m_limiter->IsDropping()) text.insert(0, "[*] ");
    if (m_options.to_console) WriteToConsole(text);
    if (!is_kept) return;
    // If reopening fails, lines still go to the old file.
    if (m_options.file && m_reopen.exchange(false)) (void)OpenFile();
    if (m_fd >= 0) WriteAll(m_fd, text);
}

void FileLogger::Write(const LogLine& said)
{
    Line line = Dressed(said);
    const Lock lock(m_mutex);
    if (!m_started) return HoldLocked(std::move(line));
    RenewLimitsLocked();
    WriteLocked(line);
}

} // namespace ibd
