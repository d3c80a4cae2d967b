// Access to the consensus vectors and real chain data that are beside the checkout, never in it.
// Without them a test is skipped with a notice; if CI=true it fails instead.
#pragma once

#include "sim/rng.h"

#include <optional>
#include <string>

#include <univalue.h>

namespace ibd::test {

/** Path of `name` below ../shared/testdata, or nothing when the data is absent (a notice is
 *  printed, and with CI=true the running test fails). Packed files are named with their suffix. */
std::optional<std::string> TestData(const std::string& name);

/** Whole contents of a file; unpacks .xz, .zst and .bz2 by suffix. Fails the test on error. */
Bytes ReadTestFile(const std::string& path);

/** Parses a JSON file (packed or not). Fails the test on error. */
UniValue ReadTestJson(const std::string& path);

/** Deterministic generator for property tests: prints its seed in the failure message. Set
 *  IBD_TEST_SEED to repeat a run. */
sim::Rng& TestRng();

/** `n` random bytes from TestRng(). */
Bytes RandomBytes(size_t n);

} // namespace ibd::test
