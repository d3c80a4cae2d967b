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

/** Sixteen bytes: a register of every machine with vectors. */
typedef uint8_t Sixteen __attribute__((vector_size(16)));

Sixteen Digits(Sixteen halves)
{
    constexpr uint8_t kToLetter = 'a' - '0' - 10;
    const auto letters = reinterpret_cast<Sixteen>(halves > 9);
    return halves + '0' + (letters & kToLetter);
}

/** Writes the digits of whole vectors; returns the number of bytes done. */
size_t WriteVectors(ByteSpan bytes, char* to)
{
    size_t i = 0;
    for (; i + sizeof(Sixteen) <= bytes.size(); i += sizeof(Sixteen)) {
        Sixteen some;
        std::memcpy(&some, bytes.data() + i, sizeof(some));
        const Sixteen high = Digits(some >> 4), low = Digits(some & 15);
        const Sixteen first = __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                                      5, 21, 6, 22, 7, 23);
        const Sixteen second = __builtin_shufflevector(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                       28, 13, 29, 14, 30, 15, 31);
        std::memcpy(to + 2 * i, &first, sizeof(first));
        std::memcpy(to + 2 * i + sizeof(first), &second, sizeof(second));
    }
    return i;
}

} // namespace

// Blocks are served as hex, so speed matters: first whole vectors, then both digits of a byte in
// one copy.
std::string ToHex(ByteSpan bytes)
{
    std::string out(bytes.size() * 2, '\0');
    const size_t done = WriteVectors(bytes, out.data());
    char* to = out.data() + 2 * done;
    for (const uint8_t byte : bytes.subspan(done)) {
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
