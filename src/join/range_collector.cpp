// See range_collector.h.
#include "join/range_collector.h"

#include <cstring>
#include <numeric>

namespace ibd {

/** Sorts by counting, so that records of a range keep their order. */
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
    uint32_t from = 0; // each start has moved to the end of its range
    for (uint32_t range = 0; range < m_ranges; ++range) {
        const uint32_t end = m_starts[range];
        if (from < end)
            ok = WriteRange(range, std::span(m_grouped).subspan(from, end - from)) && ok;
        from = end;
    }
    m_entries.clear();
    m_used = 0;
    return ok;
}

bool RangeCollector::WriteRange(uint32_t range, std::span<const uint32_t> numbers)
{
    CHECK(m_sink);
    bool ok = true;
    size_t used = 0;
    m_page.resize(PageSink::kMaxPageBytes);
    for (const uint32_t i : numbers) {
        const uint32_t begin = i == 0 ? 0 : m_entries[i - 1].end;
        const size_t size = m_entries[i].end - begin;
        if (used + size > m_page.size()) {
            ok = m_sink->Add(range, ByteSpan(m_page).first(used)) && ok;
            used = 0;
        }
        std::memcpy(m_page.data() + used, m_records.get() + begin, size);
        used += size;
    }
    return m_sink->Add(range, ByteSpan(m_page).first(used)) && ok;
}

} // namespace ibd
