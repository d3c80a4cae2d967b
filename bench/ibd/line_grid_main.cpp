// ibd-line-grid [FIRST STEP [BLOCKS]]: syncs over a grid of simulated lines (test/sim/line_grid.h),
// from number FIRST each STEP-th (default: all), of chains of at most BLOCKS. Prints CSV: the
// lines, seconds, the ideal, their ratio, seconds allowed, honest peers dropped, blocks received
// twice. Time is simulated.
#include "sim/line_grid.h"

#include <algorithm>
#include <cstdlib>

int main(int argc, char** argv)
{
    using namespace ibd::sim;
    const size_t first = argc > 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
    const size_t step = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
    const size_t most = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : kLongestChain;
    const std::vector<GridSync> grid = LineGrid(1, std::clamp(most, size_t{1}, kLongestChain));
    for (size_t i = first; i < grid.size(); i += std::max(step, size_t{1})) {
        const GridOutcome got = RunGridSync(grid[i]);
        fmt::print("{},{:.1f},{:.1f},{:.3f},{:.1f},{},{}\n", grid[i].name, got.seconds, got.ideal,
                   got.seconds / got.ideal, AllowedSeconds(grid[i], got), got.dropped,
                   got.duplicates);
        std::fflush(stdout);
    }
    return 0;
}
