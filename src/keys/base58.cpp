// See base58.h.
#include "keys/base58.h"
#include "crypto/sha256.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr std::string_view kDigits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
constexpr std::string_view kSpace = " \f\n\r\t\v"; //!< ignored around the text
constexpr size_t kChecksumSize = 4;

/** number = number * from + digit, with `number` little-endian in base `to`. */
void PushDigit(Bytes& number, uint32_t digit, uint32_t from, uint32_t to)
{
    uint32_t carry = digit;
    for (uint8_t& d : number) {
        carry += d * from;
        d = static_cast<uint8_t>(carry % to);
        carry /= to;
    }
    for (; carry != 0; carry /= to) number.push_back(static_cast<uint8_t>(carry % to));
}

} // namespace

std::string EncodeBase58(ByteSpan bytes)
{
    size_t zeros = 0;
    while (zeros < bytes.size() && bytes[zeros] == 0) ++zeros;
    Bytes number;
    for (const uint8_t b : bytes.subspan(zeros)) PushDigit(number, b, 256, 58);
    std::string text(zeros, kDigits[0]);
    for (auto it = number.rbegin(); it != number.rend(); ++it) text.push_back(kDigits[*it]);
    return text;
}

std::optional<Bytes> DecodeBase58(std::string_view text, size_t max_size)
{
    const size_t first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return Bytes();
    text = text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
    size_t zeros = 0;
    while (zeros < text.size() && text[zeros] == kDigits[0]) ++zeros;
    if (zeros > max_size) return std::nullopt;
    Bytes number;
    for (const char c : text.substr(zeros)) {
        const size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        PushDigit(number, static_cast<uint32_t>(digit), 58, 256);
        if (zeros + number.size() > max_size) return std::nullopt;
    }
    Bytes out(zeros, 0);
    out.insert(out.end(), number.rbegin(), number.rend());
    return out;
}

std::string EncodeBase58Check(ByteSpan payload)
{
    Bytes bytes(payload.begin(), payload.end());
    const Hash32 hash = Sha256d(payload);
    bytes.insert(bytes.end(), hash.begin(), hash.begin() + kChecksumSize);
    return EncodeBase58(bytes);
}

std::optional<Bytes> DecodeBase58Check(std::string_view text, size_t max_size)
{
    auto bytes = DecodeBase58(text, max_size + kChecksumSize);
    if (!bytes || bytes->size() < kChecksumSize) return std::nullopt;
    const size_t size = bytes->size() - kChecksumSize;
    const Hash32 hash = Sha256d(ByteSpan(*bytes).first(size));
    if (!std::equal(hash.begin(), hash.begin() + kChecksumSize, bytes->end() - kChecksumSize)) {
        return std::nullopt;
    }
    bytes->resize(size);
    return bytes;
}

} // namespace ibd
