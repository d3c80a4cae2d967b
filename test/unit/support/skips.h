// Tests that found no data (testdata.h) or need a missing feature of the machine, for the summary
// of a run.
#pragma once

#include <map>
#include <string>

namespace ibd::test {

/** By the name of the test, with the first reason. Grows while tests run. */
std::map<std::string, std::string>& SkippedTests();

/** Notes that the running test does not run, and prints why. */
void SkipTest(const std::string& reason);

} // namespace ibd::test
