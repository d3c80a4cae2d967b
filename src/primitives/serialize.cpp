// See serialize.h.
#include "primitives/serialize.h"

#include <limits>

namespace ibd {

uint64_t Reader::LongCompactSize(uint8_t first, bool range_check)
{
    uint64_t value;
    uint64_t least; // smaller values have a shorter form
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
    if (value < least) Fail(kSizeNotMinimal);
    if (range_check && value > kMaxSerializedSize) Fail(kSizeTooLarge);
    return Ok() ? value : 0;
}

uint64_t Reader::VarInt()
{
    constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
    const ByteSpan ahead = m_data.subspan(m_pos);
    uint64_t value = 0;
    for (size_t i = 0; Ok() && i < ahead.size(); ++i) {
        const uint8_t byte = ahead[i];
        if (value > (kMax >> 7)) break;
        value = value << 7 | (byte & 0x7f);
        if (!(byte & 0x80)) {
            m_pos += i + 1;
            return value;
        }
        if (value == kMax) break;
        ++value; // each longer form starts where the shorter ones end
    }
    Fail();
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

// Builds the number from its last byte to its first, in a word whose lowest byte is the first.
// Byte-wise stores would stall a later read of the whole.
uint8_t* PutVarInt(uint8_t* to, uint64_t v)
{
    constexpr int kWord = 8;
    uint64_t word = v & 0x7f;
    int size = 1;
    for (; v > 0x7f && size < kWord; ++size) {
        v = (v >> 7) - 1;
        word = word << 8 | 0x80 | (v & 0x7f);
    }
    if (v > 0x7f) { // the tenth and ninth byte do not fit into the word
        v = (v >> 7) - 1;
        if (v > 0x7f) *to++ = static_cast<uint8_t>(0x80 | ((v >> 7) - 1));
        *to++ = static_cast<uint8_t>(0x80 | (v & 0x7f));
    }
    WriteLE64(to, word);
    return to + size;
}

void Writer::VarInt(uint64_t v)
{
    const size_t at = m_out.size();
    m_out.resize(at + kVarIntRoom);
    m_out.resize(static_cast<size_t>(PutVarInt(&m_out[at], v) - m_out.data()));
}

} // namespace ibd
