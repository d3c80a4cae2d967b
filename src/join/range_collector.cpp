// See range_collector.h.
#include "join/range_collector.h"

#include <numeric>

namespace ibd {

/** By counting, so that records of a range keep their order. */
bool RangeCollector::Flush()
{
    if (m_entries.empty()) return true;
    m_starts.assign(size_t{m_ranges} + 1, 0);
    for (const Entry& entry : m_entries) ++m_starts[entry.range + 1];
    std::partial_sum(m_starts.begin(), m_starts.end(), m_starts.begin());
    m_grouped.resize(m_entries.size());
    for (uint32_t i = 0; i < m_entries.size(); ++i) {
        m_grouped[m_starts[m_entries[i].range]++] = i;
    }
    bool ok = true;
    uint32_t from = 0; // each start has moved to its range's end
    for (uint32_t range = 0; range < m_ranges; ++range) {
        const uint32_t end = m_starts[range];
        if (from < end)
            ok = WriteRange(range, std::span(m_grouped).subspan(from, end - from)) && ok;
        from = end;
    }
    m_entries.clear();
    m_records.clear();
    return ok;
}

bool RangeCollector::WriteRange(uint32_t range, std::span<const uint32_t> numbers)
{
    CHECK(m_sink);
    bool ok = true;
    m_page.clear();
    for (const uint32_t i : numbers) {
        const uint32_t begin = i == 0 ? 0 : m_entries[i - 1].end;
        const ByteSpan record = ByteSpan(m_records).subspan(begin, m_entries[i].end - begin);
        if (m_page.size() + record.size() > PageSink::kMaxPageBytes) {
            ok = m_sink->Add(range, m_page) && ok;
            m_page.clear();
        }
        Append(m_page, record);
    }
    return m_sink->Add(range, m_page) && ok;
}

} // namespace ibd
