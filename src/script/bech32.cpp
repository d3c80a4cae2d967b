// See bech32.h.
#include "script/bech32.h"

#include <algorithm>
#include <array>

namespace ibd {

namespace {

constexpr std::string_view kDigits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr size_t kChecksumDigits = 6;
constexpr size_t kMaxLength = 90;

uint32_t FinalConstant(Bech32Kind kind) { return kind == Bech32Kind::kBech32 ? 1 : 0x2bc830a3; }

/** The remainder of the BCH code over the expanded prefix and the digits. */
uint32_t Remainder(std::string_view prefix, ByteSpan digits)
{
    static constexpr std::array<uint32_t, 5> kGenerator = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa,
                                                           0x3d4233dd, 0x2a1462b3};
    uint32_t r = 1;
    const auto feed = [&](uint32_t digit) {
        const uint32_t top = r >> 25;
        r = (r & 0x1ffffff) << 5 ^ digit;
        for (size_t i = 0; i < kGenerator.size(); ++i) {
            if (top >> i & 1) r ^= kGenerator[i];
        }
    };
    for (const char c : prefix) feed(static_cast<uint8_t>(c) >> 5);
    feed(0);
    for (const char c : prefix) feed(static_cast<uint8_t>(c) & 31);
    for (const uint8_t d : digits) feed(d);
    return r;
}

} // namespace

std::string EncodeBech32(Bech32Kind kind, std::string_view prefix, ByteSpan digits)
{
    Bytes all(digits.begin(), digits.end());
    all.resize(all.size() + kChecksumDigits);
    const uint32_t checksum = Remainder(prefix, all) ^ FinalConstant(kind);
    std::string text(prefix);
    text.push_back('1');
    for (const uint8_t d : digits) text.push_back(kDigits[d]);
    for (size_t i = 0; i < kChecksumDigits; ++i) {
        text.push_back(kDigits[checksum >> (5 * (kChecksumDigits - 1 - i)) & 31]);
    }
    return text;
}

std::optional<Bech32Text> DecodeBech32(std::string_view text)
{
    bool lower = false;
    bool upper = false;
    std::string folded(text);
    for (char& c : folded) {
        if (c < 33 || c > 126) return std::nullopt;
        lower = lower || (c >= 'a' && c <= 'z');
        if (c < 'A' || c > 'Z') continue;
        upper = true;
        c = static_cast<char>(c - 'A' + 'a');
    }
    const size_t one = folded.rfind('1');
    if ((lower && upper) || text.size() > kMaxLength || one == std::string::npos || one == 0 ||
        one + 1 + kChecksumDigits > text.size()) {
        return std::nullopt;
    }
    Bech32Text out;
    out.prefix = folded.substr(0, one);
    for (const char c : std::string_view(folded).substr(one + 1)) {
        const size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        out.digits.push_back(static_cast<uint8_t>(digit));
    }
    const uint32_t remainder = Remainder(out.prefix, out.digits);
    for (const Bech32Kind kind : {Bech32Kind::kBech32, Bech32Kind::kBech32m}) {
        if (remainder != FinalConstant(kind)) continue;
        out.kind = kind;
        out.digits.resize(out.digits.size() - kChecksumDigits);
        return out;
    }
    return std::nullopt;
}

std::optional<Bytes> RegroupBits(ByteSpan in, int from, int to, bool pad)
{
    Bytes out;
    uint32_t bits = 0;
    int count = 0;
    const uint32_t mask = (1u << to) - 1;
    for (const uint8_t v : in) {
        if (v >> from != 0) return std::nullopt;
        bits = (bits << from | v) & 0xffffff;
        count += from;
        while (count >= to) {
            count -= to;
            out.push_back(static_cast<uint8_t>(bits >> count & mask));
        }
    }
    if (pad) {
        if (count > 0) out.push_back(static_cast<uint8_t>(bits << (to - count) & mask));
    } else if (count >= from || (bits << (to - count) & mask) != 0) {
        return std::nullopt;
    }
    return out;
}

} // namespace ibd
