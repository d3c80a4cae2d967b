// RangeCollector: gathers records in memory and hands them on in pages by range. One for each
// thread. Memory: as given, half as much again for short records, and two pages.
#pragma once

#include "join/spill_file.h"

#include <memory>

namespace ibd {

class RangeCollector {
public:
    /** `capacity`: bytes gathered before they go to pages. */
    RangeCollector(uint32_t ranges, size_t capacity)
        : m_ranges(ranges), m_capacity(capacity),
          m_records(std::make_unique_for_overwrite<uint8_t[]>(capacity + PageSink::kMaxPageBytes))
    {
    }

    /** Sets the sink of all later pages. Call it only while no records are gathered. */
    void SetSink(PageSink* sink) { m_sink = sink; }

    /** Room for one record of at most PageSink::kMaxPageBytes; call Close() once it is written. */
    uint8_t* Room() { return m_records.get() + m_used; }
    /** Adds the record written in Room(), up to `end`, to `range`. False: the sink has failed. */
    bool Close(uint32_t range, const uint8_t* end)
    {
        m_used = static_cast<size_t>(end - m_records.get());
        m_entries.push_back({range, static_cast<uint32_t>(m_used)});
        return m_used < m_capacity || Flush();
    }

    /** Hands all gathered records to the sink. False: the sink has failed. */
    bool Flush();

private:
    struct Entry {
        uint32_t range;
        uint32_t end; //!< of the record; it begins at the end of the previous one
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
