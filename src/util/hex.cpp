// See hex.h.
#include "util/hex.h"

#include <array>

namespace ibd {

namespace {

int DigitValue(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/** "000102...ff". */
constexpr std::array<char, 512> MakePairs()
{
    constexpr char kDigits[] = "0123456789abcdef";
    std::array<char, 512> pairs{};
    for (size_t byte = 0; byte < 256; ++byte) {
        pairs[2 * byte] = kDigits[byte >> 4];
        pairs[2 * byte + 1] = kDigits[byte & 15];
    }
    return pairs;
}
constexpr std::array<char, 512> kPairs = MakePairs();

} // namespace

// Blocks are served as hex, so this counts: both digits of a byte are one copy from a table.
std::string ToHex(ByteSpan bytes)
{
    std::string out(bytes.size() * 2, '\0');
    char* to = out.data();
    for (const uint8_t byte : bytes) {
        std::memcpy(to, &kPairs[size_t{byte} * 2], 2);
        to += 2;
    }
    return out;
}

std::optional<Bytes> FromHex(std::string_view text)
{
    if (text.size() % 2 != 0) return std::nullopt;
    Bytes out(text.size() / 2);
    for (size_t i = 0; i < out.size(); ++i) {
        const int high = DigitValue(text[2 * i]);
        const int low = DigitValue(text[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        out[i] = static_cast<uint8_t>(high << 4 | low);
    }
    return out;
}

} // namespace ibd
