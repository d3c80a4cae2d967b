// SpanRecords: the spilled records of a span of heights, in memory and grouped by height. A record
// begins with a place in the chain (JoinRecord::PlaceIn). One for each thread. Memory: the records,
// 4 bytes for each record, and a page.
#pragma once

#include "join/height_ranges.h"
#include "join/spill_file.h"

namespace ibd {

/** Prefetch distance when records are visited by height: in memory they are in the order in which
 *  they were found. */
inline constexpr size_t kRecordsAhead = 12;

/** The size of the record at the start of `bytes`; 0 if there is none. */
using RecordSize = size_t (*)(ByteSpan bytes);

class SpanRecords {
public:
    explicit SpanRecords(RecordSize size_of) : m_size_of(size_of) {}

    /** Loads the records of `span`, which is within `range`, from the spills: at most `bytes`
     *  bytes. Bad data: the spills are damaged. */
    Result<> Load(const SpillReader& spills, uint32_t range, HeightSpan span, uint64_t bytes);

    /** Offsets in Data() of the records of a height of the span. */
    std::span<const uint32_t> At(uint32_t height) const
    {
        const uint32_t i = height - m_span.first;
        return std::span(m_grouped).subspan(m_starts[i], m_starts[i + 1] - m_starts[i]);
    }
    const uint8_t* Data() const { return m_records.data(); }
    ByteSpan RecordAt(uint32_t offset) const
    {
        const ByteSpan rest = ByteSpan(m_records).subspan(offset);
        return rest.first(m_size_of(rest));
    }
    size_t Bytes() const { return m_records.size(); }
    /** Frees the memory of an oversized span. */
    void Release();

private:
    void Group(uint32_t count);

    const RecordSize m_size_of;
    HeightSpan m_span;
    ibd::Bytes m_records;
    ibd::Bytes m_page;
    std::vector<uint32_t> m_starts;  //!< by height: start of its records in m_grouped; then the end
    std::vector<uint32_t> m_grouped; //!< offsets, by height
};

/** A span of heights, and the most bytes that its records take. */
struct SizedSpan {
    HeightSpan heights;
    uint64_t bytes;
};

/** Cuts a range of heights into spans whose records take at most `most_bytes`, or that are one
 *  block. A range that fits whole is not read; otherwise it is read once. Bad data: the spills are
 *  damaged. */
Result<std::vector<SizedSpan>> CutRange(const SpillReader& spills, uint32_t range, HeightSpan whole,
                                        RecordSize size_of, size_t most_bytes);

} // namespace ibd
