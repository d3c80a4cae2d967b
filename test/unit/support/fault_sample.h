// Which operations of a disk fail in a test: a sample that differs with the seed of the tests, or,
// with IBD_ALL_FAULTS, every one.
#pragma once

#include "support/testdata.h"

#include <algorithm>
#include <cstdlib>

namespace ibd::test {

/** The numbers first, first + step, first + 2 step, … */
struct FaultSample {
    uint64_t first = 0;
    uint64_t step = 1;
};

/** About `wanted` of the numbers below `all`, evenly spread. */
inline FaultSample SampleOfFaults(uint64_t all, uint64_t wanted)
{
    if (std::getenv("IBD_ALL_FAULTS")) return {};
    const uint64_t step = std::max<uint64_t>(1, all / wanted);
    return {TestRng().Below(step), step};
}

} // namespace ibd::test
