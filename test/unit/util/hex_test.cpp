#include "util/hex.h"

#include "support/catch.h"

using namespace ibd;

namespace {

/** The plain reference of ToHex(). */
std::string PlainHex(ByteSpan bytes)
{
    std::string out;
    for (const uint8_t byte : bytes) {
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

} // namespace

TEST_CASE("bytes of any number and place in hex are those of the plain way", "[hex]")
{
    Bytes all(256);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
    for (size_t from = 0; from < all.size(); ++from) {
        for (size_t size = 0; size <= all.size() - from && size < 70; ++size) {
            const ByteSpan part = ByteSpan(all).subspan(from, size);
            const std::string hex = ToHex(part);
            REQUIRE(hex == PlainHex(part));
            REQUIRE(FromHex(hex) == Bytes(part.begin(), part.end()));
        }
    }
}
