// The one translation unit that compiles Catch2's runner, shared by every unit-test binary, and the
// listener that writes down how a run went for the closing line of test/run.sh.
#define CATCH_CONFIG_MAIN
#include "support/skips.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>

#include <univalue.h>

namespace {

struct Summary : Catch::TestEventListenerBase {
    using TestEventListenerBase::TestEventListenerBase;

    void testRunEnded(const Catch::TestRunStats& stats) override
    {
        UniValue lines(UniValue::VARR);
        size_t skipped_well = 0; // a test that also failed counts as failed
        for (const auto& [test, reason] : ibd::test::SkippedTests()) {
            if (m_failed.count(test)) continue;
            lines.push_back(test + ": " + reason);
            ++skipped_well;
        }
        const auto& cases = stats.totals.testCases;
        UniValue line(UniValue::VOBJ);
        line.pushKV("name", stats.runInfo.name);
        line.pushKV("passed", static_cast<int64_t>(cases.passed - skipped_well));
        line.pushKV("failed", static_cast<int64_t>(cases.failed));
        line.pushKV("skips", lines);
        if (skipped_well > 0) std::cerr << skipped_well << " tests skipped\n";
        const char* path = std::getenv("IBD_TEST_SUMMARY");
        // One write at the end of a file opened for appending: programs run side by side.
        if (path) std::ofstream(path, std::ios::app) << line.write() + "\n" << std::flush;
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override
    {
        if (stats.totals.testCases.failed > 0) m_failed.insert(stats.testInfo.name);
    }

    std::set<std::string> m_failed;
};
CATCH_REGISTER_LISTENER(Summary)

} // namespace
