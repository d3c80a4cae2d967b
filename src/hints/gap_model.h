// GapModel: the probability of each length of a run of zeros, given the runs before it. The static
// model of a version 2 container: a table of frequencies for each context, stored in the file. The
// context depends only on earlier numbers of the same group, so a group can be decoded alone. Pure;
// format and the writer's choices: doc/formats/hints.md, section 2.
#pragma once

#include "util/bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

namespace ibd {

/** A number below 2^19 is coded as its bucket, and the bits after the bucket's leading ones. */
struct GapBucket {
    static constexpr uint32_t kExact = 16; //!< smaller numbers have a bucket each
    static constexpr size_t kCount = 46;
    uint8_t bucket = 0;
    uint8_t extra_bits = 0; //!< at most 17

    static GapBucket Of(uint32_t value)
    {
        if (value < kExact) return {static_cast<uint8_t>(value), 0};
        const auto top = static_cast<uint32_t>(std::bit_width(value)) - 1;
        const uint32_t second = value >> (top - 1) & 1;
        return {static_cast<uint8_t>(kExact + 2 * (top - 4) + second),
                static_cast<uint8_t>(top - 1)};
    }
    static unsigned ExtraBits(unsigned bucket)
    {
        return bucket < kExact ? 0 : (bucket - kExact) / 2 + 3;
    }
    /** The smallest number of the bucket. */
    static uint32_t First(unsigned bucket)
    {
        return bucket < kExact ? bucket : (2 | (bucket & 1)) << ExtraBits(bucket);
    }
};

/** The part of a group's history that the context depends on. */
class GapHistory {
public:
    static constexpr size_t kGapContexts = 128;
    static constexpr size_t kContexts = kGapContexts + 16; //!< contexts of counts follow those of
                                                           //!< gaps

    /** The context of the next run of zeros. */
    uint32_t OfGap() const
    {
        return std::min<uint32_t>(m_level >> 8, 7) * 16 + m_last * 4 + m_before;
    }
    /** The context of the next block's count of unspent outputs. */
    uint32_t OfCount() const { return kGapContexts + std::min<uint32_t>(15, Width(m_count)); }
    void AddGap(uint32_t gap)
    {
        m_before = m_last;
        m_last = gap < 2 ? gap : gap < 8 ? 2 : 3;
        m_level += 16 * Width(gap) - (m_level >> 4);
    }
    void AddCount(uint32_t count) { m_count = count; }

private:
    static uint32_t Width(uint32_t v) { return static_cast<uint32_t>(std::bit_width(v)); }

    uint32_t m_last = 0;   //!< class of the last run, 0..3
    uint32_t m_before = 0; //!< class of the one before it
    uint32_t m_level = 0;  //!< moving average of runs' bit widths, times 256
    uint32_t m_count = 0;  //!< of the last block
};

/** The number of occurrences of each bucket in each context. */
using GapCounts = std::array<std::array<uint64_t, GapBucket::kCount>, GapHistory::kContexts>;

class GapModel {
public:
    static constexpr unsigned kScaleBits = 10;
    static constexpr uint32_t kScale = 1 << kScaleBits; //!< sum of a table's frequencies
    /** Upper bound; real tables are far smaller. */
    static constexpr size_t kMaxBytes = 32 << 10;

    using Table = std::array<uint16_t, GapBucket::kCount>;

    /** The writer's model for these counts; the same on every machine. */
    static GapModel For(const GapCounts& counts);

    Bytes Encode() const;
    /** Null; or the error, if these bytes are not the Encode() of some model. */
    static const char* Decode(ByteSpan bytes, GapModel& model);

    const Table& TableOf(size_t context) const
    {
        return m_own[context] ? m_tables[context] : m_shared;
    }

private:
    Table m_shared{};
    std::array<bool, GapHistory::kContexts> m_own{};
    std::array<Table, GapHistory::kContexts> m_tables{}; //!< of contexts with a table of their own
};

} // namespace ibd
