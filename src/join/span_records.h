// SpanRecords: the spilled records of a span of heights, in memory and grouped by height. A record
// begins with a place in the chain (JoinRecord::PlaceIn). One for each thread. Memory: the
// records, 4 bytes for each, and a page.
#pragma once

#include "join/height_ranges.h"
#include "join/spill_file.h"

namespace ibd {

/** Records ahead that are asked to be brought near where they are looked at by height: they lie in
 *  the order of their finding. */
inline constexpr size_t kRecordsAhead = 12;

/** The size of the record that the bytes begin with; 0 if there is none. */
using RecordSize = size_t (*)(ByteSpan bytes);

class SpanRecords {
public:
    explicit SpanRecords(RecordSize size_of) : m_size_of(size_of) {}

    /** Loads those of the span out of `range`, which it lies in: so many bytes, or less. Bad data:
     *  the spills are damaged. */
    Result<> Load(const SpillReader& spills, uint32_t range, HeightSpan span, uint64_t bytes);

    /** Where the records of a height of the span lie in Data(). */
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
    /** Gives the memory of an extreme span back. */
    void Release();

private:
    void Group(uint32_t count);

    const RecordSize m_size_of;
    HeightSpan m_span;
    ibd::Bytes m_records;
    ibd::Bytes m_page;
    std::vector<uint32_t> m_starts;  //!< by height: of its records in m_grouped, and the end
    std::vector<uint32_t> m_grouped; //!< offsets, by height
};

/** A span of heights, and how many bytes its records take at most. */
struct SizedSpan {
    HeightSpan heights;
    uint64_t bytes;
};

/** Cuts a range of heights into spans whose records take at most `most_bytes`, or which are of one
 *  block. What fits whole is not looked at; else the range is read once. Bad data: the spills are
 *  damaged. */
Result<std::vector<SizedSpan>> CutRange(const SpillReader& spills, uint32_t range, HeightSpan whole,
                                        RecordSize size_of, size_t most_bytes);

} // namespace ibd
