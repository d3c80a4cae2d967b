// See subsidy.h.
#include "consensus/subsidy.h"

#include <algorithm>

namespace ibd {

Amount BlockSubsidy(int height, const ConsensusParams& params)
{
    const int halvings = height / params.subsidy_halving_interval;
    return halvings >= 64 ? 0 : (50 * kCoin) >> halvings;
}

Amount MaxSupply(int height, const ConsensusParams& params)
{
    Amount sum = 0;
    const int64_t interval = params.subsidy_halving_interval;
    for (int64_t first = 0; first <= height; first += interval) {
        const Amount each = BlockSubsidy(static_cast<int>(first), params);
        if (each == 0) break;
        sum += each * (std::min<int64_t>(first + interval - 1, height) - first + 1);
    }
    return height < 0 ? 0 : sum - BlockSubsidy(0, params);
}

} // namespace ibd
