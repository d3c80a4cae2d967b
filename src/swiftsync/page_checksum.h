// The checksum of a page in the booster's own files (runs, spills). Covers place and contents, so
// that exchanged pages show too. As strong as what guards the same coins in the chainstate, and far
// less work than a cryptographic hash.
#pragma once

#include "storage/crc32c.h"
#include "util/endian.h"

namespace ibd {

/** `offset` of the page in its file; `head`: what precedes the checksum in the page. */
inline uint32_t PageChecksum(uint64_t offset, ByteSpan head, ByteSpan payload)
{
    uint8_t place[8];
    WriteLE64(place, offset);
    return Crc32c(payload, Crc32c(head, Crc32c(place)));
}

} // namespace ibd
