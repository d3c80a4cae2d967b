// Bech32 (BIP173) and Bech32m (BIP350): text with a human-readable part and a checksum over 5-bit
// digits. Pure; any thread.
#pragma once

#include "util/bytes.h"

#include <optional>
#include <vector>

namespace ibd {

enum class Bech32Kind { kBech32, kBech32m };

struct Bech32Text {
    Bech32Kind kind = Bech32Kind::kBech32;
    std::string prefix; //!< lower case
    Bytes digits;       //!< 0..31 each, without the checksum
};

/** `prefix` in lower case; digits below 32. */
std::string EncodeBech32(Bech32Kind kind, std::string_view prefix, ByteSpan digits);
/** Accepts at most 90 characters of one case, with a valid checksum of either kind. */
std::optional<Bech32Text> DecodeBech32(std::string_view text);

/** The reason, in Core's words, why DecodeBech32 refuses a text. */
struct Bech32Fault {
    std::string text;
    /** Indices of wrong characters; for a wrong checksum the one or two characters that would
     *  correct it, if such exist. Ascending. */
    std::vector<int> places;
};
Bech32Fault FindBech32Fault(std::string_view text);

/** Regroups bits, most significant first, from groups of `from` to groups of `to` bits. With `pad`
 *  the end is filled with zero bits; without, the remainder must be fewer than `from` bits, all
 *  zero. */
std::optional<Bytes> RegroupBits(ByteSpan in, int from, int to, bool pad);

} // namespace ibd
