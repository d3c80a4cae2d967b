// OutpointNamer: maps outpoints to names, by which a join matches their events: sums of products
// with secret random factors, a strongly universal family of functions (multiply-shift for vectors;
// M. Thorup, "High speed hashing for integers and strings", section 3). Any two outpoints chosen
// without knowledge of the salt have the same name with a probability of exactly 2^-85, which
// doc/develop/join.md relies on. Names must not become public: the factors can be computed from a
// few of them. Immutable; any thread.
#pragma once

#include "swiftsync/aggregate.h"

namespace ibd {

/** 85 bits: the first word and the low 21 bits of the second; the other bits have no meaning. */
struct OutpointName {
    uint64_t first = 0;
    uint64_t second = 0;
};

class OutpointNamer {
public:
    static constexpr int kNameBits = 85;

    /** Draws the factors from the secret salt of a join. */
    explicit OutpointNamer(const AggregateSalt& salt);

    /** The name of an outpoint of 36 bytes: txid, vout little-endian. */
    OutpointName NameOf(const uint8_t* outpoint) const;

private:
    __extension__ typedef unsigned __int128 Number; //!< mod 2^128
    static constexpr size_t kWords = 9;             //!< of 32 bits in an outpoint

    std::array<Number, kWords + 1> m_factors{}; //!< of each word, then the addend
};

} // namespace ibd
