// CRC-32C (Castagnoli), as LevelDB guards its blocks and log records with. Pure functions; the
// processor's own instruction where there is one, a table otherwise.
#pragma once

#include "util/bytes.h"

namespace ibd {

/** Continues `crc` (0 at the start) over more bytes. */
uint32_t Crc32c(ByteSpan data, uint32_t crc = 0);
/** The same from a table, on every machine; the oracle of the fast one. */
uint32_t Crc32cPortable(ByteSpan data, uint32_t crc = 0);

/** LevelDB stores checksums rotated and shifted, since data may contain checksums itself. */
constexpr uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; }

} // namespace ibd
