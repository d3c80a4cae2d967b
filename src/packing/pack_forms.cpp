// See pack_forms.h.
#include "packing/pack_forms.h"

namespace ibd {

namespace {

/** Appends a number of 32 bytes as a DER integer: in the fewest bytes, the first below 80. */
void AppendNumber(Bytes& out, ByteSpan number)
{
    while (number.size() > 1 && number[0] == 0) number = number.subspan(1);
    const bool padded = (number[0] & 0x80) != 0;
    out.push_back(0x02);
    out.push_back(static_cast<uint8_t>(number.size() + (padded ? 1 : 0)));
    if (padded) out.push_back(0);
    Append(out, number);
}

} // namespace

void AppendSignature(Bytes& out, ByteSpan r_and_s, uint8_t type)
{
    const size_t start = out.size();
    out.push_back(0x30);
    out.push_back(0);
    AppendNumber(out, r_and_s.first(32));
    AppendNumber(out, r_and_s.subspan(32, 32));
    out[start + 1] = static_cast<uint8_t>(out.size() - start - 2);
    out.push_back(type);
}

std::optional<CompactSignature> SplitSignature(ByteSpan item, uint8_t& type)
{
    if (item.size() < 9 || item.size() > 73 || item[0] != 0x30) return std::nullopt;
    CompactSignature numbers;
    type = item.back();
    if (!SplitLaxDer(item.first(item.size() - 1), numbers)) return std::nullopt;
    Bytes again;
    again.reserve(item.size());
    AppendSignature(again, numbers, type);
    if (AsChars(again) != AsChars(item)) return std::nullopt;
    return numbers;
}

} // namespace ibd
