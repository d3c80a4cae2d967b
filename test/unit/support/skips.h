// Tests that found no data (testdata.h), for the summary of a run.
#pragma once

#include <map>
#include <string>

namespace ibd::test {

/** By the name of the test, with the first reason. Grows while tests run. */
std::map<std::string, std::string>& SkippedTests();

} // namespace ibd::test
