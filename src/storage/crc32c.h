// CRC-32C (Castagnoli), the checksum of LevelDB's blocks and log records. Pure functions; uses the
// processor's instructions if available, else a table.
#pragma once

#include "util/bytes.h"

#include <span>

namespace ibd {

/** Continues `crc` (0 at the start) over more bytes. */
uint32_t Crc32c(ByteSpan data, uint32_t crc = 0);

/** An implementation. */
struct Crc32cWay {
    const char* name;
    uint32_t (*compute)(ByteSpan data, uint32_t crc);
};
/** All implementations for this machine, the fastest last. The first uses a table and is the
 *  reference. */
std::span<const Crc32cWay> Crc32cWays();

/** LevelDB stores checksums rotated and shifted, since data may contain checksums itself. */
constexpr uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; }

} // namespace ibd
