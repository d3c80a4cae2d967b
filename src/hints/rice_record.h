// The record of one block in the container format: LEB128 counts, then the runs of zeros before
// each one, Rice coded. Pure functions over bytes. Format: doc/formats/hints.md, section 1.
#pragma once

#include "hints/hints.h"

namespace ibd {

inline constexpr unsigned kMaxRiceParameter = 18;

/** The counts a record starts with. */
struct HintsRecordCounts {
    uint32_t outputs = 0;
    uint32_t unspent = 0;
};

/** Reads n and k; `nullptr`: well-formed so far, else the error. */
const char* DecodeHintsCounts(ByteSpan record, HintsRecordCounts& counts);

/** Decodes one whole record; `nullptr`, or the error; `out` is then unspecified. */
const char* DecodeHintsRecord(ByteSpan record, BlockHints& out);

/** Appends the record of a block. `unspent` must be ascending and below `outputs`, which is at most
 *  kMaxHintedOutputs. Uses the Rice parameter with the shortest result, the smallest on a tie. */
void EncodeHintsRecord(uint32_t outputs, std::span<const uint32_t> unspent, Bytes& out);

} // namespace ibd
