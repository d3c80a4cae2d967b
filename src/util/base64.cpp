// See base64.h.
#include "util/base64.h"

namespace ibd {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

} // namespace

std::string ToBase64(ByteSpan bytes)
{
    std::string out;
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const size_t n = std::min<size_t>(3, bytes.size() - i);
        uint32_t group = 0;
        for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? bytes[i + k] : 0u);
        for (size_t k = 0; k < 4; ++k) {
            out.push_back(k <= n ? kDigits[group >> (18 - 6 * k) & 63] : '=');
        }
    }
    return out;
}

std::optional<Bytes> FromBase64(std::string_view text)
{
    if (text.size() % 4 != 0) return std::nullopt;
    size_t padding = 0;
    while (padding < 2 && text.ends_with('=')) {
        text.remove_suffix(1);
        ++padding;
    }
    Bytes out;
    uint32_t group = 0;
    int bits = 0;
    for (const char c : text) {
        const size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        group = group << 6 | static_cast<uint32_t>(digit);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out.push_back(static_cast<uint8_t>(group >> bits));
            group &= (1u << bits) - 1;
        }
    }
    // Surplus bits must be zero, so that each byte string has one text.
    if (group != 0) return std::nullopt;
    return out;
}

} // namespace ibd
