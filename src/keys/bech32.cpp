// See bech32.h.
#include "keys/bech32.h"

#include "util/strings.h"

#include <algorithm>
#include <array>
#include <map>

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

/** Invalid characters, and those whose case differs from the first letter's. */
std::vector<int> BadCharacters(std::string_view text)
{
    std::vector<int> out;
    bool lower = false;
    bool upper = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool is_lower = c >= 'a' && c <= 'z';
        const bool is_upper = c >= 'A' && c <= 'Z';
        const bool bad = (is_lower && upper) || (is_upper && lower) || c < 33 || c > 126;
        if (bad) out.push_back(static_cast<int>(i));
        lower = lower || (is_lower && !bad);
        upper = upper || (is_upper && !bad);
    }
    return out;
}

/** The remainder that each change of one digit adds: the code is linear. */
using Changes = std::map<uint32_t, size_t>;

Changes ChangesOfOneDigit(size_t count)
{
    const Bytes zeros(count, 0);
    const uint32_t base = Remainder({}, zeros);
    Changes out;
    for (size_t i = 0; i < count; ++i) {
        Bytes changed = zeros;
        for (changed[i] = 1; changed[i] < 32; ++changed[i]) {
            out.emplace(Remainder({}, changed) ^ base, i);
        }
    }
    return out;
}

/** The one or two wrong digits, given the difference of the remainder to the expected one. Up to
 *  two errors have a unique solution, as code words differ in at least five digits. */
std::vector<size_t> WrongDigits(const Changes& changes, uint32_t difference)
{
    if (const auto one = changes.find(difference); one != changes.end()) return {one->second};
    for (const auto& [change, place] : changes) {
        const auto other = changes.find(difference ^ change);
        if (other == changes.end() || other->second == place) continue;
        return {std::min(place, other->second), std::max(place, other->second)};
    }
    return {};
}

/** For a text with a wrong checksum under both kinds: the kind with fewer errors is assumed. */
Bech32Fault ChecksumFault(std::string_view prefix, ByteSpan digits)
{
    Bech32Fault fault{"Invalid checksum", {}};
    const Changes changes = ChangesOfOneDigit(digits.size());
    const uint32_t remainder = Remainder(prefix, digits);
    for (const Bech32Kind kind : {Bech32Kind::kBech32, Bech32Kind::kBech32m}) {
        const auto wrong = WrongDigits(changes, remainder ^ FinalConstant(kind));
        if (wrong.empty()) continue;
        if (!fault.places.empty() && wrong.size() >= fault.places.size()) continue;
        const bool old = kind == Bech32Kind::kBech32;
        fault = {old ? "Invalid Bech32 checksum" : "Invalid Bech32m checksum", {}};
        for (const size_t i : wrong) {
            fault.places.push_back(static_cast<int>(prefix.size() + 1 + i));
        }
    }
    return fault;
}

} // namespace

Bech32Fault FindBech32Fault(std::string_view text)
{
    if (text.size() > kMaxLength) {
        Bech32Fault fault{"Bech32 string too long", {}};
        for (size_t i = kMaxLength; i < text.size(); ++i) {
            fault.places.push_back(static_cast<int>(i));
        }
        return fault;
    }
    if (auto bad = BadCharacters(text); !bad.empty()) {
        return {"Invalid character or mixed case", std::move(bad)};
    }
    const std::string folded = ToLower(text);
    const size_t one = folded.rfind('1');
    if (one == std::string::npos) return {"Missing separator", {}};
    if (one == 0 || one + kChecksumDigits >= text.size()) {
        return {"Invalid separator position", {static_cast<int>(one)}};
    }
    Bytes digits;
    for (size_t i = one + 1; i < folded.size(); ++i) {
        const size_t digit = kDigits.find(folded[i]);
        if (digit == std::string_view::npos) {
            return {"Invalid Base 32 character", {static_cast<int>(i)}};
        }
        digits.push_back(static_cast<uint8_t>(digit));
    }
    return ChecksumFault(std::string_view(folded).substr(0, one), digits);
}

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
    if (text.size() > kMaxLength || !BadCharacters(text).empty()) return std::nullopt;
    const std::string folded = ToLower(text);
    const size_t one = folded.rfind('1');
    if (one == std::string::npos || one == 0 || one + 1 + kChecksumDigits > text.size()) {
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
