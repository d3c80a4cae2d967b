// See height_ranges.h.
#include "join/height_ranges.h"

#include <numeric>

namespace ibd {

/** Adds 1 to each weight, so that blocks of weight 0 do not all fall into one range. */
HeightRanges::HeightRanges(std::span<const uint32_t> weights, uint32_t most) : m_of(weights.size())
{
    CHECK(!weights.empty() && most >= 1 && most <= kMost);
    const uint64_t all = std::accumulate(weights.begin(), weights.end(), uint64_t{weights.size()});
    const uint64_t each = all / most + 1;
    uint64_t before = 0;
    for (uint32_t height = 0; height < weights.size(); ++height) {
        if (m_firsts.empty() || before >= m_firsts.size() * each) m_firsts.push_back(height);
        m_of[height] = static_cast<uint16_t>(m_firsts.size() - 1);
        before += uint64_t{weights[height]} + 1;
    }
    CHECK(m_firsts.size() <= most);
    m_firsts.push_back(static_cast<uint32_t>(weights.size()));
}

} // namespace ibd
