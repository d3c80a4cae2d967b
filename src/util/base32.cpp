// See base32.h.
#include "util/base32.h"

#include "util/strings.h"

namespace ibd {

namespace {

constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";

/** 0 .. 31; 32: not a digit. */
uint32_t DigitValue(char c)
{
    const size_t at = kDigits.find(ToLower(c));
    return at == std::string_view::npos ? 32 : static_cast<uint32_t>(at);
}

} // namespace

std::string ToBase32(ByteSpan bytes, bool pad)
{
    std::string out;
    out.reserve((bytes.size() + 4) / 5 * 8);
    uint32_t bits = 0;
    int held = 0;
    for (const uint8_t byte : bytes) {
        bits = bits << 8 | byte;
        for (held += 8; held >= 5; held -= 5) out += kDigits[bits >> (held - 5) & 31];
    }
    if (held > 0) out += kDigits[bits << (5 - held) & 31];
    while (pad && out.size() % 8 != 0) out += '=';
    return out;
}

std::optional<Bytes> FromBase32(std::string_view text)
{
    if (text.size() % 8 != 0) return std::nullopt;
    const size_t padding = text.size() - (text.find_last_not_of('=') + 1);
    if (padding != 0 && padding != 1 && padding != 3 && padding != 4 && padding != 6) {
        return std::nullopt;
    }
    text.remove_suffix(padding);
    Bytes out;
    out.reserve(text.size() * 5 / 8);
    uint32_t bits = 0;
    int held = 0;
    for (const char c : text) {
        const uint32_t value = DigitValue(c);
        if (value == 32) return std::nullopt;
        bits = bits << 5 | value;
        held += 5;
        if (held < 8) continue;
        held -= 8;
        out.push_back(static_cast<uint8_t>(bits >> held));
    }
    if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
    return out;
}

} // namespace ibd
