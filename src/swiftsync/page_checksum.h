// The checksum of a page in the booster's own files (runs, spills). It covers position and
// contents, so that exchanged pages are detected. It is as strong as the checksum that guards the
// same coins in the chainstate, and far cheaper than a cryptographic hash.
#pragma once

#include "storage/crc32c.h"
#include "util/endian.h"

namespace ibd {

/** `offset` of the page in its file; `head`: the bytes before the checksum in the page. */
inline uint32_t PageChecksum(uint64_t offset, ByteSpan head, ByteSpan payload)
{
    uint8_t place[8];
    WriteLE64(place, offset);
    return Crc32c(payload, Crc32c(head, Crc32c(place)));
}

} // namespace ibd
