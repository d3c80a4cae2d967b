// The coding of one group of a version 2 container: for each block the count of unspent outputs,
// then the run of zeros before each of them, in one rANS stream (asymmetric numeral systems) under
// a GapModel. Pure. Format: doc/formats/hints.md, section 2.
#pragma once

#include "hints/gap_model.h"

#include <memory>
#include <span>

namespace ibd {

/** The hints of a group's blocks. */
struct GroupHints {
    std::vector<uint32_t> ends;    //!< end of each block in `unspent`
    std::vector<uint32_t> unspent; //!< indices within their blocks, ascending in each block

    void Clear()
    {
        ends.clear();
        unspent.clear();
    }
    void Add(std::span<const uint32_t> block)
    {
        unspent.insert(unspent.end(), block.begin(), block.end());
        ends.push_back(static_cast<uint32_t>(unspent.size()));
    }
    std::span<const uint32_t> Block(size_t i) const
    {
        const uint32_t start = i ? ends[i - 1] : 0;
        return std::span(unspent).subspan(start, ends[i] - start);
    }
};

/** Adds the group's numbers to the counts. */
void CountGaps(const GroupHints& group, GapCounts& counts);

/** Encodes the group. The model must be made from counts that include those of the group. */
Bytes EncodeGroup(const GroupHints& group, const GapModel& model);

/** A model prepared for decoding: 1.2 KB for each context (175 KB). Immutable, any thread. */
class GapDecoder {
public:
    explicit GapDecoder(const GapModel& model);

    /** Decodes a group of `blocks` blocks with `unspent` unspent outputs and indices below `limit`.
     *  Returns null, or the error; `out` is then unspecified. These numbers bound the memory. */
    const char* Decode(ByteSpan group, uint32_t blocks, uint32_t unspent, uint32_t limit,
                       GroupHints& out) const;

private:
    /** A context's table: slots to buckets, buckets to the next state. Bytes keep all tables in a
     *  core's cache. */
    struct Table {
        struct Bucket {
            uint16_t frequency;
            uint16_t start;
        };
        std::array<uint8_t, GapModel::kScale> bucket_of;
        std::array<Bucket, GapBucket::kCount> buckets;
    };
    class State;

    std::vector<Table> m_tables; //!< by context
};

} // namespace ibd
