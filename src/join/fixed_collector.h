// FixedCollector: gathers records of one size in memory and hands them on in pages by range. Twice
// as fast as RangeCollector, which gathers records of any size. One for each thread. Memory: as
// given, and 8 KiB.
#pragma once

#include "join/height_ranges.h"
#include "join/spill_file.h"

#include <array>
#include <cstring>
#include <memory>

namespace ibd {

template <size_t kBytes>
class FixedCollector {
public:
    /** `memory`: bytes for the gathered records, and the same number again to sort them. */
    FixedCollector(uint32_t ranges, size_t memory)
        : m_ranges(ranges),
          m_capacity(std::max<size_t>(1, memory / (2 * kBytes + sizeof(uint16_t)))),
          m_records(std::make_unique_for_overwrite<Record[]>(m_capacity)),
          m_sorted(std::make_unique_for_overwrite<Record[]>(m_capacity)),
          m_range_of(std::make_unique_for_overwrite<uint16_t[]>(m_capacity))
    {
        CHECK(ranges <= HeightRanges::kMost);
    }

    /** Sets the sink of all later pages. Call it only while no records are gathered. */
    void SetSink(PageSink* sink) { m_sink = sink; }

    /** Room for one record; call Close() once it is written. */
    uint8_t* Room() { return m_records[m_count].data(); }
    /** Adds the record written in Room() to `range`. False: the sink has failed. */
    bool Close(uint32_t range)
    {
        m_range_of[m_count] = static_cast<uint16_t>(range);
        return ++m_count < m_capacity || Flush();
    }

    /** Hands all gathered records to the sink. False: the sink has failed. */
    bool Flush()
    {
        if (m_count == 0) return true;
        CHECK(m_sink);
        std::array<uint32_t, HeightRanges::kMost + 1> ends{}; // of each range, at index + 1
        for (size_t i = 0; i < m_count; ++i) ++ends[m_range_of[i] + 1];
        for (uint32_t range = 0; range < m_ranges; ++range) ends[range + 1] += ends[range];
        for (size_t i = 0; i < m_count; ++i) m_sorted[ends[m_range_of[i]]++] = m_records[i];
        bool ok = true;
        uint32_t from = 0;
        for (uint32_t range = 0; range < m_ranges; ++range) {
            for (; from < ends[range]; from = std::min(ends[range], from + kPageRecords)) {
                const size_t count = std::min<size_t>(kPageRecords, ends[range] - from);
                ok = m_sink->Add(range, {m_sorted[from].data(), count * kBytes}) && ok;
            }
        }
        m_count = 0;
        return ok;
    }

private:
    using Record = std::array<uint8_t, kBytes>;
    static constexpr uint32_t kPageRecords = PageSink::kMaxPageBytes / kBytes;

    const uint32_t m_ranges;
    const size_t m_capacity;
    PageSink* m_sink = nullptr;
    const std::unique_ptr<Record[]> m_records;
    const std::unique_ptr<Record[]> m_sorted;
    const std::unique_ptr<uint16_t[]> m_range_of;
    size_t m_count = 0;
};

} // namespace ibd
