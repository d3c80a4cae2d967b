// The log's line format, categories, levels, rotation and shrinking; the progress line.
#include "support/temp_dir.h"
#include "util/log_file.h"
#include "util/progress.h"
#include "util/threads.h"

#include "support/catch.h"
#include "support/clock_env.h"
#include "support/kept_log.h"

using namespace ibd;
using ibd::test::ClockEnv;
using ibd::test::KeptLog;
using ibd::test::TempDir;

namespace {

constexpr const char* kBetweenRuns = "\n\n\n\n\n";

std::string WholeFile(Env& env, const Path& path)
{
    const auto data = ReadWholeFile(env, path);
    REQUIRE(data.Ok());
    return std::string(AsChars(*data));
}

/** The lines of one run. */
std::string Contents(Env& env, const Path& path)
{
    const std::string text = WholeFile(env, path);
    REQUIRE_THAT(text, Catch::StartsWith(kBetweenRuns));
    return text.substr(5);
}

} // namespace

TEST_CASE("a line carries the time, and category or level where they are not implied")
{
    const TempDir dir;
    ClockEnv env;
    LogOptions options;
    options.file = dir / "debug.log";
    auto logger = FileLogger::Open(env, options);
    REQUIRE(logger.Ok());
    FileLogger& log = **logger;
    log.Info("height {}", 7);
    log.Warning("careful");
    log.Debug(LogCategory::kNet, "not wanted");
    log.Enable(LogCategory::kNet);
    log.Debug(LogCategory::kNet, "peer said \"a\nb\"");
    log.Write({LogLevel::kWarning, LogCategory::kNet, {"f", "g", 1}, false, "odd"});
    CHECK(Contents(env, dir / "debug.log") == "2026-11-21T05:45:46Z height 7\n"
                                              "2026-11-21T05:45:46Z [warning] careful\n"
                                              "2026-11-21T05:45:46Z [net] peer said \"a\\x0ab\"\n"
                                              "2026-11-21T05:45:46Z [net:warning] odd\n");
}

TEST_CASE("microseconds, no time, always a level")
{
    const TempDir dir;
    ClockEnv env;
    env.micros += 42;
    LogOptions options;
    options.file = dir / "a";
    options.time_micros = true;
    options.always_level = true;
    (*FileLogger::Open(env, options))->Info("x");
    CHECK(Contents(env, dir / "a") == "2026-11-21T05:45:46.000042Z [all:info] x\n");
    options.file = dir / "b";
    options.timestamps = false;
    options.always_level = false;
    (*FileLogger::Open(env, options))->Info("x");
    CHECK(Contents(env, dir / "b") == "x\n");
}

TEST_CASE("a line can name its thread and the place in the source that it comes from")
{
    const TempDir dir;
    ClockEnv env;
    LogOptions options;
    options.file = dir / "debug.log";
    options.timestamps = false;
    options.thread_names = true;
    options.places = true;
    const auto logger = FileLogger::Open(env, options);
    FileLogger& log = **logger;
    log.Enable(LogCategory::kNet);
    const LogPlace place{"/home/src/x/src/net/peers.cpp", "Connect", 12};
    NamedThread("msghand", [&] {
        log.Write({LogLevel::kWarning, LogCategory::kNone, place, false, "lost"});
        log.Write({LogLevel::kDebug, LogCategory::kNet, place, false, "found"});
    }).Join();
    constexpr int kNextLine = __LINE__ + 1;
    std::thread([&] { log.Info("here"); }).join();
    CHECK(Contents(env, dir / "debug.log") ==
          fmt::format("[msghand] [net/peers.cpp:12] [Connect] [warning] lost\n"
                      "[msghand] [net/peers.cpp:12] [Connect] [net] found\n"
                      "[unknown] [{}:{}] [operator()] here\n",
                      __FILE__, kNextLine));
}

TEST_CASE("a place that logs too much loses lines until the hour is over")
{
    const TempDir dir;
    ClockEnv env;
    LogOptions options;
    options.file = dir / "debug.log";
    options.timestamps = false;
    const auto logger = FileLogger::Open(env, options);
    FileLogger& log = **logger;
    log.Enable(LogCategory::kAll);
    const LogPlace loud{"src/net/peers.cpp", "Shout", 7};
    const auto say = [&](const LogPlace& place, bool limited, std::string_view text) {
        log.Write({LogLevel::kInfo, LogCategory::kNone, place, limited, text});
    };
    const std::string half(LogLimiter::kMaxBytes / 2 - 1, 'x'); // and the newline
    say(loud, true, half);
    say(loud, true, half);
    say({"src/net/peers.cpp", "Shout", 8}, true, "another line of it");
    say({"src/net/bans.cpp", "Shout", 7}, true, "another file");
    say(loud, true, "beyond");
    say(loud, true, "lost");
    say(loud, false, "unlimited");
    log.Debug(LogCategory::kNet, "asked for");
    env.micros += 3'599'999'999;
    say(loud, true, "lost too");
    env.micros += 1;
    log.Info("anybody");
    say(loud, true, half);
    say(loud, true, half);
    env.micros += 2 * 3'600'000'000;
    say(loud, true, "nothing was lost");
    CHECK(Contents(env, dir / "debug.log") ==
          half + "\n" + half + "\n" +
              "another line of it\nanother file\n"
              "[*] [warning] Excessive logging detected from ./net/peers.cpp:7 (Shout): >1048576 "
              "bytes logged during the last time window of 3600s. Suppressing logging to disk from "
              "this source location until time window resets. Console logging unaffected. Last "
              "log entry.\n"
              "[*] beyond\n"
              "[*] unlimited\n"
              "[*] [net] asked for\n"
              "[warning] Restarting logging from ./net/peers.cpp:7 (Shout): 21 bytes were dropped "
              "during the last 3600s.\n"
              "anybody\n" +
              half + "\n" + half + "\nnothing was lost\n");
}

TEST_CASE("-nologratelimit drops nothing")
{
    const TempDir dir;
    ClockEnv env;
    LogOptions options;
    options.file = dir / "debug.log";
    options.timestamps = false;
    options.limit_rate = false;
    const auto logger = FileLogger::Open(env, options);
    const std::string line(LogLimiter::kMaxBytes / 2, 'x');
    for (int i = 0; i < 4; ++i) (*logger)->Info("{}", line);
    const std::string two = line + "\n" + line + "\n";
    CHECK(Contents(env, dir / "debug.log") == two + two);
}

TEST_CASE("lines from before the start are held back and keep their time; a mocked time is shown")
{
    const TempDir dir;
    ClockEnv env;
    std::atomic<int64_t> mock_time{0};
    FileLogger log(env, &mock_time);
    log.Info("early");
    env.micros += 3'000'000;
    mock_time = 1'600'000'000;
    log.Info("mocked");
    LogOptions options;
    options.file = dir / "debug.log";
    REQUIRE(log.Start(options).Ok());
    log.Info("late");
    CHECK(Contents(env, dir / "debug.log") ==
          "2026-11-21T05:45:46Z early\n"
          "2026-11-21T05:45:49Z (mocktime: 2020-09-13T12:26:40Z) mocked\n"
          "2026-11-21T05:45:49Z (mocktime: 2020-09-13T12:26:40Z) late\n");

    FileLogger talkative(env);
    for (int i = 0; i < 20'000; ++i) talkative.Info("line {}", i);
    options.file = dir / "other.log";
    options.timestamps = false;
    REQUIRE(talkative.Start(options).Ok());
    const std::string kept = Contents(env, dir / "other.log");
    CHECK_THAT(kept, Catch::StartsWith("Early logging buffer overflowed, "));
    CHECK_THAT(kept, Catch::EndsWith("line 19999\n"));
    CHECK(kept.size() < FileLogger::kMaxHeldBytes);
}

TEST_CASE("levels can be set for all and for one category")
{
    ClockEnv env;
    const auto logger = FileLogger::Open(env, {});
    FileLogger& log = **logger;
    CHECK(log.Wants(LogLevel::kInfo, LogCategory::kRpc));
    CHECK_FALSE(log.Wants(LogLevel::kDebug, LogCategory::kRpc));
    log.Enable(LogCategory::kAll);
    CHECK(log.Wants(LogLevel::kDebug, LogCategory::kRpc));
    CHECK_FALSE(log.Wants(LogLevel::kTrace, LogCategory::kRpc));
    log.SetLevel(LogCategory::kRpc, LogLevel::kTrace);
    CHECK(log.Wants(LogLevel::kTrace, LogCategory::kRpc));
    CHECK_FALSE(log.Wants(LogLevel::kTrace, LogCategory::kNet));
    log.SetLevel(LogLevel::kInfo);
    CHECK_FALSE(log.Wants(LogLevel::kDebug, LogCategory::kNet));
    CHECK(log.Wants(LogLevel::kTrace, LogCategory::kRpc));
    log.Disable(LogCategory::kRpc);
    CHECK_FALSE(log.Wants(LogLevel::kTrace, LogCategory::kRpc));
}

TEST_CASE("names of categories and levels")
{
    for (const auto& [category, name] : LogCategories()) CHECK(ParseLogCategory(name) == category);
    CHECK(ParseLogCategory("") == LogCategory::kAll);
    CHECK(ParseLogCategory("1") == LogCategory::kAll);
    CHECK(ParseLogCategory("libevent") == LogCategory::kNone);
    CHECK_FALSE(ParseLogCategory("none"));
    CHECK_FALSE(ParseLogCategory("nett"));
    CHECK(ParseLogLevel("trace") == LogLevel::kTrace);
    CHECK_FALSE(ParseLogLevel("loud"));
}

TEST_CASE("a rotated log is opened anew, a long one is cut at a line")
{
    const TempDir dir;
    ClockEnv env;
    LogOptions options;
    options.file = dir / "debug.log";
    options.timestamps = false;
    {
        auto logger = FileLogger::Open(env, options);
        (*logger)->Info("one");
        REQUIRE(env.Rename(dir / "debug.log", dir / "old.log").Ok());
        (*logger)->Info("two");
        (*logger)->RequestReopen();
        (*logger)->Info("three");
    }
    CHECK(Contents(env, dir / "old.log") == "one\ntwo\n");
    CHECK(WholeFile(env, dir / "debug.log") == "three\n");

    std::string longer;
    while (longer.size() <= FileLogger::kShrinkAbove)
        longer += std::to_string(longer.size()) + "\n";
    REQUIRE(WriteFileAtomically(env, dir / "debug.log", AsBytes(longer)).Ok());
    REQUIRE(FileLogger::Open(env, options).Ok());
    std::string kept = WholeFile(env, dir / "debug.log");
    REQUIRE_THAT(kept, Catch::EndsWith(kBetweenRuns));
    kept.resize(kept.size() - 5);
    CHECK(kept.size() <= FileLogger::kKeepBytes);
    CHECK(kept.size() > FileLogger::kKeepBytes - 100);
    CHECK(longer.ends_with("\n" + kept));
}

TEST_CASE("a long log that cannot be shortened is written on, with a warning")
{
    const TempDir dir;
    ClockEnv env;
    LogOptions options;
    options.file = dir / "debug.log";
    options.timestamps = false;
    const std::string longer(FileLogger::kShrinkAbove + 1, 'x');
    REQUIRE(WriteFileAtomically(env, dir / "debug.log", AsBytes(longer)).Ok());
    env.refuses_writes = true;
    REQUIRE(FileLogger::Open(env, options).Ok());
    const std::string text = WholeFile(env, dir / "debug.log");
    CHECK(text == longer + kBetweenRuns +
                      "[warning] Failed to shrink debug log file: no writes today\n");
}

TEST_CASE("a log file that cannot be opened is an error that names it")
{
    ClockEnv env;
    LogOptions options;
    options.file = "/nonexistent/debug.log";
    const auto logger = FileLogger::Open(env, options);
    REQUIRE_FALSE(logger.Ok());
    CHECK_THAT(logger.Message(), Catch::Contains("/nonexistent/debug.log"));
}

TEST_CASE("progress knows rate and time left, and logs now and then")
{
    ClockEnv env;
    KeptLog log;
    ProgressMeter meter(env, log, {.label = "Reading", .unit = "blocks", .total = 1000});
    CHECK_FALSE(meter.SecondsLeft());
    CHECK(meter.Line() == "Reading: 0 of 1000 blocks (0.0 %)");
    for (int second = 1; second <= 20; ++second) {
        env.micros += 1'000'000;
        meter.Update(static_cast<uint64_t>(second) * 10);
    }
    CHECK(meter.Rate() == Approx(10));
    CHECK(meter.SecondsLeft() == 80);
    CHECK(meter.Line() == "Reading: 200 of 1000 blocks (20.0 %), 10 blocks/s, 1 min 20 s left");
    CHECK(log.Lines().size() == 2);
    meter.Finish();
    meter.Finish();
    CHECK(log.Lines().size() == 3);
    CHECK(log.Lines().back() == "Reading: 200 blocks in 20 s, 10 blocks/s");
    // Earlier work counts for the total, not for the rate.
    ProgressMeter resumed(env, log, {.label = "r", .unit = "bytes", .total = 4000, .start = 2000});
    env.micros += 1'000'000;
    resumed.Update(2500, "7 blocks");
    CHECK(resumed.Line() == "r: 2.5 kB of 4.0 kB (62.5 %), 500 bytes/s, 3 s left; 7 blocks");
    resumed.Finish();
    CHECK(log.Lines().back() == "r: 500 bytes in 1 s, 500 bytes/s; 7 blocks");
    // A change of speed shows after the time of averaging, and counts never go back.
    ProgressMeter slower(env, log, {.label = "a", .unit = "b"});
    env.micros += 1'000'000;
    slower.Update(100);
    for (int second = 1; second <= 60; ++second) {
        env.micros += 1'000'000;
        slower.Update(100 + static_cast<uint64_t>(second));
    }
    CHECK(slower.Rate() < 4);
    CHECK(slower.Rate() >= 1);
    slower.Update(5);
    CHECK(slower.Done() == 160);
}
