// PairCollector: gathers pairs of outputs and spending inputs as pages, by range of the output's
// block. One for each thread.
#pragma once

#include "join/fixed_collector.h"
#include "join/height_ranges.h"
#include "join/spend_pair.h"

namespace ibd {

class PairCollector final : public MetSink<JoinRecord> {
public:
    /** `ranges`: of the blocks that make outputs; must outlive it. */
    PairCollector(const HeightRanges& ranges, size_t capacity)
        : m_ranges(ranges), m_collector(ranges.Count(), capacity)
    {
    }

    void SetSink(PageSink* sink) { m_collector.SetSink(sink); }
    /** False: the sink has failed. */
    bool Add(const JoinRecord& made, const JoinRecord& spent)
    {
        uint8_t* const room = m_collector.Room();
        SpendPair{made.Place(), spent.Place()}.Write(room);
        return m_collector.Close(m_ranges.Of(made.Height()));
    }
    bool Met(const JoinRecord& made, const JoinRecord& spent) override { return Add(made, spent); }
    bool Flush() { return m_collector.Flush(); }

private:
    const HeightRanges& m_ranges;
    FixedCollector<SpendPair::kBytes> m_collector;
};

} // namespace ibd
