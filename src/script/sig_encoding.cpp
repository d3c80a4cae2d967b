// See sig_encoding.h.
#include "script/sig_encoding.h"

namespace ibd {

namespace {

constexpr uint8_t kSequenceTag = 0x30;
constexpr uint8_t kIntegerTag = 0x02;

/** Takes a DER integer off the front: positive, at least one byte, no needless leading zero. */
bool TakeInteger(ByteSpan& in)
{
    if (in.size() < 3 || in[0] != kIntegerTag) return false;
    const size_t size = in[1];
    if (size == 0 || size > in.size() - 2) return false;
    const ByteSpan number = in.subspan(2, size);
    if (number[0] & 0x80) return false;
    if (size > 1 && number[0] == 0 && !(number[1] & 0x80)) return false;
    in = in.subspan(2 + size);
    return true;
}

} // namespace

bool HasStrictDerShape(ByteSpan signature_and_type)
{
    const size_t size = signature_and_type.size();
    if (size < 9 || size > 73) return false;
    if (signature_and_type[0] != kSequenceTag || signature_and_type[1] != size - 3) return false;
    ByteSpan body = signature_and_type.subspan(2, size - 3);
    return TakeInteger(body) && TakeInteger(body) && body.empty();
}

bool HasDefinedHashType(ByteSpan signature_and_type)
{
    if (signature_and_type.empty()) return false;
    const uint8_t kind = signature_and_type.back() & 0x7f;
    return kind >= 1 && kind <= 3;
}

} // namespace ibd
