// RangeCollector: gathers records in memory and hands them on in pages by range. One for each
// thread. Memory: as given, half as much again for short records, and two pages.
#pragma once

#include "join/spill_file.h"

#include <memory>

namespace ibd {

class RangeCollector {
public:
    /** `capacity`: bytes that are gathered before they go to pages. */
    RangeCollector(uint32_t ranges, size_t capacity)
        : m_ranges(ranges), m_capacity(capacity),
          m_records(std::make_unique_for_overwrite<uint8_t[]>(capacity + PageSink::kMaxPageBytes))
    {
    }

    /** Where pages go from now on. With nothing gathered. */
    void SetSink(PageSink* sink) { m_sink = sink; }

    /** Room for one record, of at most PageSink::kMaxPageBytes, which is to be closed. */
    uint8_t* Room() { return m_records.get() + m_used; }
    /** What was written there, up to `end`, is a record of that range. False: the sink has failed.
     */
    bool Close(uint32_t range, const uint8_t* end)
    {
        m_used = static_cast<size_t>(end - m_records.get());
        m_entries.push_back({range, static_cast<uint32_t>(m_used)});
        return m_used < m_capacity || Flush();
    }

    /** All that is gathered goes to the sink. False: it has failed. */
    bool Flush();

private:
    struct Entry {
        uint32_t range;
        uint32_t end; //!< of the record; it begins where the one before ends
    };
    bool WriteRange(uint32_t range, std::span<const uint32_t> numbers);

    const uint32_t m_ranges;
    const size_t m_capacity;
    PageSink* m_sink = nullptr;
    const std::unique_ptr<uint8_t[]> m_records;
    size_t m_used = 0;
    std::vector<Entry> m_entries;
    std::vector<uint32_t> m_starts;  //!< of each range in m_grouped, and the end
    std::vector<uint32_t> m_grouped; //!< numbers of entries, by range
    Bytes m_page;
};

} // namespace ibd
