// The line of progress on a terminal.
#include "util/log_file.h"
#include "util/progress.h"
#include "util/terminal_line.h"
#include "util/time_left.h"

#include <algorithm>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/clock_env.h"
#include "support/kept_log.h"

using namespace ibd;
using ibd::test::ClockEnv;
using ibd::test::KeptLog;

namespace {

/** A pseudo-terminal: text written to Tty() is read from Shown(). */
class Pty {
public:
    explicit Pty(unsigned short columns) : m_primary(::posix_openpt(O_RDWR | O_NOCTTY))
    {
        REQUIRE(m_primary >= 0);
        REQUIRE(::grantpt(m_primary) == 0);
        REQUIRE(::unlockpt(m_primary) == 0);
        m_tty = std::fopen(::ptsname(m_primary), "w");
        REQUIRE(m_tty != nullptr);
        m_line.emplace(m_tty);
        Resize(columns);
    }
    ~Pty()
    {
        std::fclose(m_tty);
        ::close(m_primary);
    }
    Pty(const Pty&) = delete;
    Pty& operator=(const Pty&) = delete;

    void Resize(unsigned short columns) const
    {
        winsize size = {};
        size.ws_row = 24;
        size.ws_col = columns;
        REQUIRE(::ioctl(m_primary, TIOCSWINSZ, &size) == 0);
    }
    std::FILE* Tty() const { return m_tty; }
    TerminalLine& Line() { return *m_line; }
    /** All that came since the last call. */
    std::string Shown() const
    {
        std::string text;
        pollfd ready = {m_primary, POLLIN, 0};
        while (::poll(&ready, 1, 0) == 1) {
            char buffer[4096];
            const ssize_t n = ::read(m_primary, buffer, sizeof buffer);
            if (n <= 0) break;
            text.append(buffer, static_cast<size_t>(n));
        }
        return text;
    }

private:
    const int m_primary;
    std::FILE* m_tty = nullptr;
    std::optional<TerminalLine> m_line;
};

/** The longest stretch between returns and line feeds. */
size_t Longest(const std::string& shown)
{
    size_t longest = 0;
    for (size_t begin = 0; begin <= shown.size();) {
        const size_t end = std::min(shown.find_first_of("\r\n", begin), shown.size());
        longest = std::max(longest, end - begin);
        begin = end + 1;
    }
    return longest;
}

constexpr uint64_t kGigabyte = 1'000'000'000;
constexpr const char* kDetail =
    "831596 of 900000 blocks, 2400000000 outputs, 512.3 MB memory, 8 peers";

} // namespace

TEST_CASE("progress_fits_the_terminal", "[util][progress]")
{
    const auto env = MakePosixEnv();
    KeptLog log;
    for (const unsigned short columns : {200, 120, 80, 40, 12, 1}) {
        INFO(columns);
        Pty pty(columns);
        ProgressMeter meter(*env, log,
                            {.label = "Booster: folding",
                             .unit = "bytes",
                             .total = 700 * kGigabyte,
                             .to = {&pty.Line(), nullptr}});
        meter.Update(350 * kGigabyte, kDetail);
        const std::string drawn = pty.Shown();
        CHECK(Longest(drawn) < columns);
        CHECK(drawn.find('\n') == std::string::npos);
        CHECK((drawn.find("Booster: folding: ") != std::string::npos) == (columns >= 40));
        CHECK((drawn.find("350.0 GB of 700.0 GB (50.0 %)") != std::string::npos) ==
              (columns >= 80));
        CHECK((drawn.find("outputs") != std::string::npos) == (columns >= 120));
        if (columns > 1) CHECK(drawn.find("50.0 %") != std::string::npos);
        meter.Finish();
        const std::string last = pty.Shown();
        CHECK(Longest(last) < columns);
        CHECK(std::count(last.begin(), last.end(), '\n') == 1);
    }
}

TEST_CASE("progress_follows_a_resize", "[util][progress]")
{
    const auto env = MakePosixEnv();
    KeptLog log;
    Pty pty(120);
    ProgressMeter meter(
        *env, log, {.label = "Booster: folding", .unit = "blocks", .to = {&pty.Line(), nullptr}});
    meter.Update(1, kDetail);
    CHECK(Longest(pty.Shown()) > 80);
    pty.Resize(40);
    meter.Finish();
    CHECK(Longest(pty.Shown()) < 40); // what stood there is not blanked beyond the width either
}

TEST_CASE("log_lines_stand_above_the_line_of_progress", "[util][progress]")
{
    const auto env = MakePosixEnv();
    Pty pty(80);
    const int console = ::dup(STDOUT_FILENO);
    REQUIRE(::dup2(::fileno(pty.Tty()), STDOUT_FILENO) == STDOUT_FILENO);
    const int errors = ::dup(STDERR_FILENO);
    REQUIRE(::dup2(::fileno(pty.Tty()), STDERR_FILENO) == STDERR_FILENO);
    {
        FileLogger log(*env);
        if (log.Start({.file = {}, .to_console = true, .timestamps = false})) {
            const std::string line[] = {"the line of progress"};
            log.ProgressLine().Draw(line);
            log.Info("of the log");
            log.ProgressLine().End(line);
            log.Info("the last");
        }
    }
    (void)::dup2(console, STDOUT_FILENO);
    (void)::dup2(errors, STDERR_FILENO);
    ::close(console);
    ::close(errors);
    const std::string drawn = "\rthe line of progress";
    const std::string blank = "\r" + std::string(drawn.size() - 1, ' ') + "\r";
    // The log has said what the line would, so that goes at the end.
    CHECK(pty.Shown() == drawn + blank + "of the log\r\n" + drawn + blank + "the last\r\n");
}

TEST_CASE("the_line_of_progress_begins_with_all_steps", "[util][progress]")
{
    ClockEnv env;
    KeptLog log;
    for (const unsigned short columns : {200, 80, 64, 45}) {
        INFO(columns);
        Pty pty(columns);
        OverallProgress overall(env);
        overall.Plan({{WorkStep::kFold, 1000}, {WorkStep::kLoad, 1000}});
        ProgressMeter meter(env, log,
                            {.label = "Booster: folding",
                             .unit = "bytes",
                             .total = 700 * kGigabyte,
                             .to = {&pty.Line(), &overall},
                             .step = WorkStep::kFold});
        env.micros += 500'000'000;
        meter.Update(350 * kGigabyte, kDetail);
        const std::string drawn = pty.Shown();
        CHECK(Longest(drawn) < columns);
        CHECK(drawn.starts_with("\rstep 1 of 2, 25 %, 25 min"));
        CHECK((drawn.find("Booster: folding") != std::string::npos) == (columns >= 64));
    }
}

TEST_CASE("a_total_may_change", "[util][progress]")
{
    ClockEnv env;
    KeptLog log;
    OverallProgress overall(env);
    overall.Plan({{WorkStep::kFold, 1000}});
    ProgressMeter meter(
        env, log,
        {.label = "Reading", .unit = "blocks", .to = {nullptr, &overall}, .step = WorkStep::kFold});
    CHECK(meter.Line() == "Reading: 0 blocks"); // unknown at first
    env.micros += 1'000'000;
    meter.SetTotal(200);
    meter.Update(50);
    CHECK(meter.Line() == "Reading: 50 of 200 blocks (25.0 %), 50 blocks/s, 3 s left");
    CHECK(overall.Text() == "step 1 of 1, 25 %, 3 s left");
    meter.SetTotal(500);
    meter.Update(50);
    CHECK(meter.Line() == "Reading: 50 of 500 blocks (10.0 %), 50 blocks/s, 9 s left");
    CHECK(overall.Text() == "step 1 of 1, 25 %, 9 s left");
}

TEST_CASE("time_left_needs_a_rate", "[util][progress]")
{
    CHECK(SecondsLeft(10, 20, 5) == 10);
    CHECK(SecondsLeft(10, -1, 5) == 0);
    CHECK_FALSE(SecondsLeft(0, 20, 5));
    CHECK_FALSE(SecondsLeft(10, 20, 0));
}

TEST_CASE("lines_are_cut_between_characters", "[util][progress]")
{
    CHECK(CutTo("Loading…", 9) == "Loading");
    CHECK(CutTo("Loading…", 10) == "Loading…");
    CHECK(CutTo("abc", 0).empty());
    const std::string texts[] = {"a long text", "a text", "text"};
    CHECK(FitLine(texts, 12) == "a long text");
    CHECK(FitLine(texts, 11) == "a text");
    CHECK(FitLine(texts, 4) == "tex");
}
