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
/** At most 90 characters, one case, a right checksum of either kind. */
std::optional<Bech32Text> DecodeBech32(std::string_view text);

/** Why DecodeBech32 refuses a text, in Core's words. */
struct Bech32Fault {
    std::string text;
    /** Indices of what is wrong; of a wrong checksum, the one or two characters whose change would
     *  make it right, if there are such. Ascending. */
    std::vector<int> places;
};
Bech32Fault FindBech32Fault(std::string_view text);

/** Regroups bits, most significant first: `from` to `to` bits each. With `pad` the end is filled
 *  with zero bits; without, what is left must be fewer than `from` bits, all zero. */
std::optional<Bytes> RegroupBits(ByteSpan in, int from, int to, bool pad);

} // namespace ibd
