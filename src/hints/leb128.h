// LEB128 numbers of at most 32 bits: seven bits a byte, lowest first; the top bit is set except in
// the last byte.
#pragma once

#include "util/bytes.h"

#include <limits>

namespace ibd {

/** Reads a number at `pos`; false: truncated, longer than necessary, or above 32 bits. */
inline bool TakeLeb128(ByteSpan in, size_t& pos, uint32_t& value)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (pos >= in.size()) return false;
        const uint8_t byte = in[pos++];
        v |= uint64_t{byte & 0x7fu} << shift;
        if (byte & 0x80) continue;
        if (byte == 0 && shift > 0) return false; // longer than needed
        value = static_cast<uint32_t>(v);
        return v <= std::numeric_limits<uint32_t>::max();
    }
    return false;
}

inline void PutLeb128(uint32_t value, Bytes& out)
{
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<uint8_t>(value | 0x80));
    out.push_back(static_cast<uint8_t>(value));
}

} // namespace ibd
