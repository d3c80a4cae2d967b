// HeightRanges: the chain cut into ranges of blocks of about equal weight. Data that is sorted into
// chain order is partitioned by these ranges. Immutable, any thread. Memory: 2 bytes a block.
#pragma once

#include "util/check.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ibd {

/** Heights in [first, end). */
struct HeightSpan {
    uint32_t first = 0;
    uint32_t end = 0;

    uint32_t Blocks() const { return end - first; }
    bool Contains(uint32_t height) const { return height >= first && height < end; }
    bool operator==(const HeightSpan&) const = default;
};

/** The heights in both spans; possibly none. */
inline HeightSpan Common(const HeightSpan& a, const HeightSpan& b)
{
    const uint32_t first = std::max(a.first, b.first);
    return {first, std::max(first, std::min(a.end, b.end))};
}

/** Numbers of ranges in [first, end). */
struct RangeSpan {
    uint32_t first = 0;
    uint32_t end = 0;
};

class HeightRanges {
public:
    static constexpr uint32_t kMost = 2048;

    /** Cuts the heights 0 to `top` into at most `most` ranges (1 to kMost); all heights have the
     *  same weight. */
    explicit HeightRanges(uint32_t top, uint32_t most = kMost)
        : HeightRanges(std::vector<uint32_t>(size_t{top} + 1, 1), most)
    {
    }
    /** `weights`: by height, from 0. */
    explicit HeightRanges(std::span<const uint32_t> weights, uint32_t most = kMost);

    uint32_t Count() const { return static_cast<uint32_t>(m_firsts.size() - 1); }
    uint32_t Top() const { return static_cast<uint32_t>(m_of.size() - 1); }
    /** The range of a height; at most Top(). */
    uint32_t Of(uint32_t height) const { return m_of[height]; }
    HeightSpan Span(uint32_t range) const { return {m_firsts[range], m_firsts[range + 1]}; }

private:
    std::vector<uint16_t> m_of;     //!< by height
    std::vector<uint32_t> m_firsts; //!< of each range, and the end
};

} // namespace ibd
