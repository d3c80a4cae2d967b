// Syncs over simulated lines of any delay, speed and loss, with peers that are slow, silent or stop
// in the middle of a block: the time is that which the lines allow, and no honest peer is dropped.
// A sample of the grid of bench/ibd/line_grid.py; IBD_SIM_SEEDS=n runs n whole grids. Time is the
// network's own.
#include "sim/line_grid.h"

#include "support/catch.h"
#include "support/testdata.h"

#include <set>

namespace ibd {

using namespace test;

namespace {

void RequireInTime(const sim::GridSync& sync)
{
    CAPTURE(sync.name, sync.seed, sync.blocks);
    const sim::GridOutcome outcome = sim::RunGridSync(sync);
    CHECK(outcome.seconds <= sim::AllowedSeconds(sync, outcome));
    CHECK(outcome.dropped == 0);
}

} // namespace

TEST_CASE("a sync takes as long as its lines need, and no honest peer is dropped", "[line_grid]")
{
    const char* const text = std::getenv("IBD_SIM_SEEDS");
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    if (!text) {
        constexpr size_t kOneIn = 30;
        const std::vector<sim::GridSync> grid = sim::LineGrid(seed, 1000);
        for (size_t i = seed % kOneIn; i < grid.size(); i += kOneIn) RequireInTime(grid[i]);
        return;
    }
    for (uint64_t i = 0; i < std::strtoul(text, nullptr, 10); ++i) {
        for (const sim::GridSync& sync : sim::LineGrid(seed + i)) RequireInTime(sync);
    }
}

TEST_CASE("the grid has all lines, in any order and with a window", "[line_grid]")
{
    std::set<std::string> names;
    size_t with_window = 0;
    const std::vector<sim::GridSync> grid = sim::LineGrid(1);
    for (const sim::GridSync& sync : grid) {
        names.insert(sync.name);
        with_window += sync.window > 0;
        CHECK(sync.peers.size() == 8);
        CHECK(sync.blocks >= 1000);
        CHECK(sync.blocks <= sim::kLongestChain);
    }
    CHECK(2 * with_window == grid.size());
    for (const char* name :
         {"any,600,1000,yes,7,stops", "window,20,1,no,4,slow", "any,tor,mixed,yes,0,honest"}) {
        CHECK(names.contains(name));
    }
}

} // namespace ibd
