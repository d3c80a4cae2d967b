// Logger: lines for debug.log and the console, with levels and categories. Owned by the node (or a
// test) and passed to the code that logs; every method may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

namespace ibd {

/** Debug categories, with the names of Core's -debug=<category>. Bits of a mask. */
enum class LogCategory : uint64_t {
    kNone = 0,
    kNet = 1 << 0,
    kMempool = 1 << 1,
    kHttp = 1 << 2,
    kBench = 1 << 3,
    kRpc = 1 << 4,
    kAddrman = 1 << 5,
    kReindex = 1 << 6,
    kCmpctBlock = 1 << 7,
    kPrune = 1 << 8,
    kLevelDb = 1 << 9,
    kValidation = 1 << 10,
    kBlockStorage = 1 << 11,
    kCoinDb = 1 << 12,
    kLibevent = 1 << 13,
    kBooster = 1 << 14,
    kEstimateFee = 1 << 15,
    kTxPackages = 1 << 16,
    // Core's categories for parts that this node lacks: accepted, without effect.
    kI2p = 1 << 17,
    kIpc = 1 << 18,
    kKernel = 1 << 19,
    kMempoolRej = 1 << 20,
    kPrivateBroadcast = 1 << 21,
    kProxy = 1 << 22,
    kQt = 1 << 23,
    kRand = 1 << 24,
    kScan = 1 << 25,
    kSelectCoins = 1 << 26,
    kTor = 1 << 27,
    kTxReconciliation = 1 << 28,
    kWalletDb = 1 << 29,
    kZmq = 1 << 30,
    kAll = ~uint64_t{0},
};

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError };

/** Source position of a line. */
struct LogPlace {
    const char* file; //!< as passed to the compiler
    const char* function;
    int line;
};

/** A format string with its source position; converts from the string alone, at compile time. */
template <typename... Args>
struct LogText {
    template <typename Text>
    consteval LogText(const Text& text, const char* file = __builtin_FILE(),
                      const char* function = __builtin_FUNCTION(), int line = __builtin_LINE())
        : format(text), place{file, function, line}
    {
    }
    fmt::format_string<Args...> format;
    LogPlace place;
};

/** A line to write. */
struct LogLine {
    LogLevel level;
    LogCategory category;
    LogPlace place;
    bool limited;          //!< subject to -logratelimit
    std::string_view text; //!< no newline
};

class Logger {
public:
    virtual ~Logger() = default;

    /** Whether a line of this level and category would be written; lets a caller skip work. */
    virtual bool Wants(LogLevel level, LogCategory category) const = 0;

    virtual void Write(const LogLine& line) = 0;

    // Lines that do not depend on the log options are rate-limited, because a peer may cause them.
    template <typename... Args>
    void Info(LogText<std::type_identity_t<Args>...> text, Args&&... args)
    {
        Log({LogLevel::kInfo, LogCategory::kNone, text.place, true, {}}, text.format,
            fmt::make_format_args(args...));
    }
    template <typename... Args>
    void Warning(LogText<std::type_identity_t<Args>...> text, Args&&... args)
    {
        Log({LogLevel::kWarning, LogCategory::kNone, text.place, true, {}}, text.format,
            fmt::make_format_args(args...));
    }
    template <typename... Args>
    void Error(LogText<std::type_identity_t<Args>...> text, Args&&... args)
    {
        Log({LogLevel::kError, LogCategory::kNone, text.place, true, {}}, text.format,
            fmt::make_format_args(args...));
    }
    /** An Info() that is never dropped: for lines that an attacker cannot cause cheaply. */
    template <typename... Args>
    void InfoUnlimited(LogText<std::type_identity_t<Args>...> text, Args&&... args)
    {
        Log({LogLevel::kInfo, LogCategory::kNone, text.place, false, {}}, text.format,
            fmt::make_format_args(args...));
    }
    template <typename... Args>
    void Debug(LogCategory category, LogText<std::type_identity_t<Args>...> text, Args&&... args)
    {
        Log({LogLevel::kDebug, category, text.place, false, {}}, text.format,
            fmt::make_format_args(args...));
    }

private:
    void Log(LogLine line, fmt::string_view format, fmt::format_args args);
};

/** A logger that writes nothing. */
std::unique_ptr<Logger> MakeNullLogger();

} // namespace ibd
