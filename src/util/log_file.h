// FileLogger: the node's Logger: debug.log and the console, in Core's line format
// `2026-11-21T05:45:46Z [category] text`. Owned by node; any thread may log; each line is one
// write(). After Start() no line is buffered, so a crash loses none, and a line is in the file
// before the logged code goes on.
#pragma once

#include "util/env.h"
#include "util/log_limiter.h"
#include "util/mutex.h"
#include "util/terminal_line.h"

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <span>

namespace ibd {

struct LogOptions {
    std::optional<Path> file;    //!< debug.log; nothing: no file
    bool to_console = false;     //!< also to stdout
    bool timestamps = true;      //!< -logtimestamps
    bool time_micros = false;    //!< -logtimemicros
    bool thread_names = false;   //!< -logthreadnames
    bool places = false;         //!< -logsourcelocations
    bool always_level = false;   //!< -loglevelalways
    bool limit_rate = true;      //!< -logratelimit
    bool shrink_at_start = true; //!< -shrinkdebugfile
};

/** A category's name on the command line. */
struct LogCategoryName {
    LogCategory category;
    std::string_view name;
};

/** All single categories, ordered by name. */
std::span<const LogCategoryName> LogCategories();
/** Their names, separated by ", ", for error texts. */
std::string LogCategoryNames();

/** "net" and so on; "all", "1" and "" are kAll. "libevent" is accepted and is kNone. */
std::optional<LogCategory> ParseLogCategory(std::string_view name);
/** "trace", "debug", "info", "warning", "error". */
std::optional<LogLevel> ParseLogLevel(std::string_view name);
/** The levels that -loglevel accepts, separated by ", ". */
inline constexpr const char* kSettableLogLevels = "info, debug, trace";
std::string_view LogLevelName(LogLevel level);

class FileLogger final : public Logger {
public:
    /** A debug.log beyond 11 MB is cut to its last 10 MB at start. */
    static constexpr uint64_t kKeepBytes = 10'000'000;
    static constexpr uint64_t kShrinkAbove = 11'000'000;
    /** Bytes of lines kept before Start(); the oldest are dropped first. */
    static constexpr size_t kMaxHeldBytes = 1'000'000;

    /** Holds lines back until Start(). `env` must outlive the logger. `mock_time`, seconds since
     *  1970: if not 0, it is shown after the real time. */
    explicit FileLogger(Env& env, const std::atomic<int64_t>* mock_time = nullptr);
    /** Opens a started logger. */
    static Result<std::unique_ptr<FileLogger>> Open(Env& env, const LogOptions& options);
    ~FileLogger() override;

    /** Opens the file, separates it from earlier runs by empty lines, and writes the held lines.
     *  Call once, before threads start. */
    Result<> Start(const LogOptions& options);

    bool Wants(LogLevel level, LogCategory category) const override;
    void Write(const LogLine& line) override;

    void Enable(LogCategory categories) { m_categories |= static_cast<uint64_t>(categories); }
    void Disable(LogCategory categories) { m_categories &= ~static_cast<uint64_t>(categories); }
    bool Enabled(LogCategory category) const
    {
        return (m_categories & static_cast<uint64_t>(category)) != 0;
    }
    /** Sets the lowest level written for enabled categories (-loglevel=<level>); info and above are
     *  always written. */
    void SetLevel(LogLevel level) { m_level = level; }
    /** Sets it for one category (-loglevel=<category>:<level>). */
    void SetLevel(LogCategory category, LogLevel level);

    /** The progress line on stderr, which shares the terminal with the console's lines. */
    TerminalLine& ProgressLine() { return m_progress_line; }

    /** Reopens the file before the next line, for log rotation. Async-signal-safe. */
    void RequestReopen() { m_reopen = true; }

private:
    /** A line with the time and the thread of the call that logged it. */
    struct Line {
        LogLine said; //!< its text is the member below
        std::string text;
        std::string thread;
        int64_t micros = 0;
        int64_t mock_seconds = 0;
    };

    Result<> OpenFile() IBD_REQUIRES(m_mutex);
    Result<> Shrink() IBD_REQUIRES(m_mutex);
    Line Dressed(const LogLine& line) const;
    std::string Format(const Line& line) const IBD_REQUIRES(m_mutex);
    std::string Prefix(LogLevel level, LogCategory category) const IBD_REQUIRES(m_mutex);
    void HoldLocked(Line line) IBD_REQUIRES(m_mutex);
    void WriteToConsole(std::string_view text);
    void WriteLocked(const Line& line) IBD_REQUIRES(m_mutex);
    /** Writes a line that the logger itself causes. */
    void SayLocked(LogLevel level, std::string_view text,
                   LogPlace place = {__builtin_FILE(), __builtin_FUNCTION(), __builtin_LINE()})
        IBD_REQUIRES(m_mutex);
    void RenewLimitsLocked() IBD_REQUIRES(m_mutex);
    /** Whether the rate limit admits `line` to the file; `text`: the formatted line. */
    bool IsKeptLocked(const Line& line, std::string_view text) IBD_REQUIRES(m_mutex);

    Env& m_env;
    const std::atomic<int64_t>* const m_mock_time; //!< seconds; may be null
    std::atomic<uint64_t> m_categories{0};
    std::atomic<LogLevel> m_level{LogLevel::kDebug};
    std::array<std::atomic<int>, 64> m_category_levels; //!< by bit; -1: m_level applies
    std::atomic<bool> m_reopen{false};
    TerminalLine m_progress_line{stderr};
    Mutex m_mutex; //!< one line at a time
    LogOptions m_options IBD_GUARDED_BY(m_mutex);
    int m_fd IBD_GUARDED_BY(m_mutex) = -1;
    bool m_started IBD_GUARDED_BY(m_mutex) = false;
    std::deque<Line> m_held IBD_GUARDED_BY(m_mutex);
    size_t m_held_bytes IBD_GUARDED_BY(m_mutex) = 0;
    size_t m_held_dropped IBD_GUARDED_BY(m_mutex) = 0; //!< lines
    /** Set by Start() if lines are limited. */
    std::optional<LogLimiter> m_limiter IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
