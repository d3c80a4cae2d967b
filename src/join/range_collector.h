// RangeCollector: gathers records in memory and hands them on in pages by range. One for each
// thread. Memory: as given, half as much again for short records, and a page.
#pragma once

#include "join/spill_file.h"

namespace ibd {

class RangeCollector {
public:
    /** `capacity`: bytes that are gathered before they go to pages. */
    RangeCollector(uint32_t ranges, size_t capacity) : m_ranges(ranges), m_capacity(capacity)
    {
        m_records.reserve(capacity);
    }

    /** Where pages go from now on. With nothing gathered. */
    void SetSink(PageSink* sink) { m_sink = sink; }

    /** Append one record to this, of at most PageSink::kMaxPageBytes, and close it. */
    Bytes& Record() { return m_records; }
    /** What was appended is a record of that range. False: the sink has failed. */
    bool Close(uint32_t range)
    {
        m_entries.push_back({range, static_cast<uint32_t>(m_records.size())});
        return m_records.size() < m_capacity || Flush();
    }
    bool Add(uint32_t range, ByteSpan record)
    {
        Append(m_records, record);
        return Close(range);
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
    Bytes m_records;
    std::vector<Entry> m_entries;
    std::vector<uint32_t> m_starts;  //!< of each range in m_grouped, and the end
    std::vector<uint32_t> m_grouped; //!< numbers of entries, by range
    Bytes m_page;
};

} // namespace ibd
