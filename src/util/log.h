// Logger: lines for debug.log and the console, with levels and categories. Owned by the node (or
// a test) and handed to what logs; every method may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace ibd {

/** Debug categories, named as for Core's -debug=<category>. Bits of a mask. */
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
    // Core's, of parts that this node has not: they may be asked for and log nothing.
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

class Logger {
public:
    virtual ~Logger() = default;

    /** Whether a line of this level and category would be written; lets a caller skip work. */
    virtual bool Wants(LogLevel level, LogCategory category) const = 0;

    /** Writes one line; `line` carries no newline. */
    virtual void Write(LogLevel level, LogCategory category, std::string_view line) = 0;

    template <typename... Args>
    void Info(fmt::format_string<Args...> text, Args&&... args)
    {
        Log(LogLevel::kInfo, LogCategory::kNone, text, std::forward<Args>(args)...);
    }
    template <typename... Args>
    void Warning(fmt::format_string<Args...> text, Args&&... args)
    {
        Log(LogLevel::kWarning, LogCategory::kNone, text, std::forward<Args>(args)...);
    }
    template <typename... Args>
    void Error(fmt::format_string<Args...> text, Args&&... args)
    {
        Log(LogLevel::kError, LogCategory::kNone, text, std::forward<Args>(args)...);
    }
    template <typename... Args>
    void Debug(LogCategory category, fmt::format_string<Args...> text, Args&&... args)
    {
        Log(LogLevel::kDebug, category, text, std::forward<Args>(args)...);
    }

private:
    template <typename... Args>
    void Log(LogLevel level, LogCategory category, fmt::format_string<Args...> text, Args&&... args)
    {
        if (Wants(level, category)) {
            Write(level, category, fmt::format(text, std::forward<Args>(args)...));
        }
    }
};

/** A logger that writes nothing. */
std::unique_ptr<Logger> MakeNullLogger();

} // namespace ibd
