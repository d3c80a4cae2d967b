// PairCollector: gathers which input spends which output, as pages by range of the output's block.
// A pair is 16 bytes: the places in the chain (JoinRecord::Place) of output and input. One for each
// thread.
#pragma once

#include "join/height_ranges.h"
#include "join/join_record.h"
#include "join/range_collector.h"

namespace ibd {

struct SpendPair {
    uint64_t made = 0;
    uint64_t spent = 0;
};
static_assert(sizeof(SpendPair) == 16 && std::is_trivially_copyable_v<SpendPair>);

class PairCollector {
public:
    /** `ranges` must outlive it; of the blocks that make outputs. */
    PairCollector(const HeightRanges& ranges, size_t capacity)
        : m_ranges(ranges), m_collector(ranges.Count(), capacity)
    {
    }

    void SetSink(PageSink* sink) { m_collector.SetSink(sink); }
    /** False: the sink has failed. */
    bool Add(const JoinRecord& made, const JoinRecord& spent)
    {
        const SpendPair pair{made.Place(), spent.Place()};
        return m_collector.Add(m_ranges.Of(made.Height()),
                               {reinterpret_cast<const uint8_t*>(&pair), sizeof(pair)});
    }
    bool Flush() { return m_collector.Flush(); }

private:
    const HeightRanges& m_ranges;
    RangeCollector m_collector;
};

} // namespace ibd
