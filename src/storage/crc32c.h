// CRC-32C (Castagnoli), as LevelDB guards its blocks and log records with. Pure functions; by the
// processor's own instructions where there are any, else by a table.
#pragma once

#include "util/bytes.h"

#include <span>

namespace ibd {

/** Continues `crc` (0 at the start) over more bytes. */
uint32_t Crc32c(ByteSpan data, uint32_t crc = 0);

/** A way to compute it. */
struct Crc32cWay {
    const char* name;
    uint32_t (*compute)(ByteSpan data, uint32_t crc);
};
/** All that this machine has, the fastest last. The first is that of a table, the oracle of the
 *  others. */
std::span<const Crc32cWay> Crc32cWays();

/** LevelDB stores checksums rotated and shifted, since data may contain checksums itself. */
constexpr uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; }

} // namespace ibd
