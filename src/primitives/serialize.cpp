// See serialize.h.
#include "primitives/serialize.h"

#include <limits>

namespace ibd {

uint64_t Reader::LongCompactSize(uint8_t first, bool range_check)
{
    uint64_t value;
    uint64_t least; // a smaller value has a shorter form
    if (first == 253) {
        value = U16();
        least = 253;
    } else if (first == 254) {
        value = U32();
        least = 0x10000;
    } else {
        value = U64();
        least = 0x100000000;
    }
    if (value < least || (range_check && value > kMaxSerializedSize)) m_ok = false;
    return m_ok ? value : 0;
}

uint64_t Reader::VarInt()
{
    constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
    uint64_t value = 0;
    while (m_ok) {
        const uint8_t byte = U8();
        if (value > (kMax >> 7)) break;
        value = value << 7 | (byte & 0x7f);
        if (!(byte & 0x80)) return m_ok ? value : 0;
        if (value == kMax) break;
        ++value; // each longer form begins where the shorter ones end
    }
    m_ok = false;
    return 0;
}

void Writer::CompactSize(uint64_t v)
{
    switch (CompactSizeLength(v)) {
    case 1: U8(static_cast<uint8_t>(v)); break;
    case 3:
        U8(253);
        U16(static_cast<uint16_t>(v));
        break;
    case 5:
        U8(254);
        U32(static_cast<uint32_t>(v));
        break;
    default: U8(255); U64(v);
    }
}

void Writer::VarInt(uint64_t v)
{
    constexpr size_t kLongest = 10; // ceil(64 / 7)
    uint8_t reversed[kLongest];
    size_t n = 0;
    for (;; v = (v >> 7) - 1) {
        reversed[n] = static_cast<uint8_t>((v & 0x7f) | (n ? 0x80 : 0));
        ++n;
        if (v <= 0x7f) break;
    }
    while (n) U8(reversed[--n]);
}

} // namespace ibd
