// See ancestry.h.
#include "consensus/ancestry.h"

#include "util/check.h"

#include <algorithm>

namespace ibd {

void Ancestry::WalkDown(int from, const std::function<bool(int, const HeaderFacts&)>& more) const
{
    for (int height = from; height >= 0 && more(height, At(height));) --height;
}

int64_t Ancestry::MedianTimePast(int height) const
{
    CHECK(height >= 0 && height <= Height());
    uint32_t times[kMedianTimeSpan];
    int count = 0;
    for (int h = height; h >= 0 && count < kMedianTimeSpan; --h) times[count++] = At(h).time;
    std::sort(times, times + count);
    return times[count / 2];
}

} // namespace ibd
