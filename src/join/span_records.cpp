// See span_records.h.
#include "join/span_records.h"

#include "join/join_record.h"

#include <numeric>

namespace ibd {

namespace {

constexpr size_t kPlaceBytes = 8;

/** Calls visit(height, record) for each record of a page. False: the page is not a sequence of
 *  whole records of that range. */
template <typename Visit>
bool ForEachRecord(ByteSpan page, HeightSpan range, RecordSize size_of, Visit visit)
{
    while (!page.empty()) {
        const size_t size = size_of(page);
        if (size < kPlaceBytes || size > page.size()) return false;
        const uint32_t height = JoinRecord::HeightOf(JoinRecord::PlaceIn(page.data()));
        if (height < range.first || height >= range.end) return false;
        visit(height, page.first(size));
        page = page.subspan(size);
    }
    return true;
}

Error Garbled(uint32_t range)
{
    return BadData("range {} of the spills has a malformed or foreign record", range);
}

} // namespace

Result<> SpanRecords::Load(const SpillReader& spills, uint32_t range, HeightSpan span,
                           uint64_t bytes)
{
    m_span = span;
    m_records.clear();
    m_records.reserve(bytes); // growing would hold the records twice
    m_starts.assign(size_t{span.Blocks()} + 1, 0);
    uint32_t count = 0;
    bool sound = true;
    const HeightSpan all{0, ~uint32_t{0}};
    IBD_RETURN_IF_ERROR(spills.Read(range, m_page, [&](ByteSpan page) {
        ByteSpan together = page.first(0); // adjacent wanted records are copied together
        sound = sound && ForEachRecord(page, all, m_size_of, [&](uint32_t height, ByteSpan record) {
                    if (height < span.first || height >= span.end) return;
                    if (together.data() + together.size() != record.data()) {
                        Append(m_records, together);
                        together = record.first(0);
                    }
                    together = {together.data(), together.size() + record.size()};
                    ++m_starts[height - span.first + 1];
                    ++count;
                });
        Append(m_records, together);
    }));
    if (!sound || m_records.size() > ~uint32_t{0}) return Garbled(range);
    Group(count);
    return {};
}

void SpanRecords::Group(uint32_t count)
{
    std::partial_sum(m_starts.begin(), m_starts.end(), m_starts.begin());
    m_grouped.resize(count);
    (void)ForEachRecord(m_records, m_span, m_size_of, [&](uint32_t height, ByteSpan record) {
        const auto offset = static_cast<uint32_t>(record.data() - m_records.data());
        m_grouped[m_starts[height - m_span.first]++] = offset;
    });
    // Each start has moved to the start of the next height.
    std::copy_backward(m_starts.begin(), m_starts.end() - 1, m_starts.end());
    m_starts[0] = 0;
}

void SpanRecords::Release()
{
    m_records = {};
    m_grouped = {};
}

Result<std::vector<SizedSpan>> CutRange(const SpillReader& spills, uint32_t range, HeightSpan whole,
                                        RecordSize size_of, size_t most_bytes)
{
    if (spills.Bytes(range) <= most_bytes)
        return std::vector{SizedSpan{whole, spills.Bytes(range)}};
    std::vector<uint64_t> bytes(whole.Blocks());
    ibd::Bytes buffer;
    bool sound = true;
    IBD_RETURN_IF_ERROR(spills.Read(range, buffer, [&](ByteSpan page) {
        sound = sound && ForEachRecord(page, whole, size_of, [&](uint32_t height, ByteSpan record) {
                    bytes[height - whole.first] += record.size();
                });
    }));
    if (!sound) return Garbled(range);
    std::vector<SizedSpan> spans = {{{whole.first, whole.first}, 0}};
    for (uint32_t height = whole.first; height < whole.end; ++height) {
        const uint64_t here = bytes[height - whole.first];
        if (spans.back().heights.Blocks() > 0 && spans.back().bytes + here > most_bytes) {
            spans.push_back({{height, height}, 0});
        }
        spans.back().heights.end = height + 1;
        spans.back().bytes += here;
    }
    return spans;
}

} // namespace ibd
