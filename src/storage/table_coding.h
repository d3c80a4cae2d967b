// LevelDB's number codings: base-128 little-endian numbers, and strings with such a length.
#pragma once

#include "util/bytes.h"
#include "util/endian.h"

namespace ibd {

inline void AppendLeb128(Bytes& out, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) out.push_back(static_cast<uint8_t>(v | 0x80));
    out.push_back(static_cast<uint8_t>(v));
}

inline void AppendLeb128String(Bytes& out, ByteSpan s)
{
    AppendLeb128(out, s.size());
    Append(out, s);
}

inline void AppendLE32(Bytes& out, uint32_t v)
{
    uint8_t b[4];
    WriteLE32(b, v);
    out.insert(out.end(), b, b + 4);
}

inline void AppendLE64(Bytes& out, uint64_t v)
{
    uint8_t b[8];
    WriteLE64(b, v);
    out.insert(out.end(), b, b + 8);
}

// An internal key is the user's key and eight bytes: sequence number << 8 kind of record. All
// records written here have the same sequence number, since no key occurs twice.
inline constexpr uint64_t kTableSequence = 1;
inline constexpr uint64_t kTableTrailer = kTableSequence << 8 | 1; //!< a value, not a deletion
inline constexpr uint64_t kSeekTrailer = ~uint64_t{0} << 8 | 1;    //!< sorts before all records of
                                                                   //!< a key

} // namespace ibd
