// Fee rates as exact fractions, and feerate diagrams. Pure; any thread.
#pragma once

#include "primitives/tx_view.h"

#include <compare>
#include <span>

namespace ibd {

__extension__ typedef __int128 Int128;

/** The total fee and size of a set of transactions, possibly empty, of one cluster or package. The
 *  size of a non-empty set is above 0. Fees are below 2^62 and sizes below 2^32, so that products
 *  fit into 128 bits. */
struct FeeSize {
    Amount fee = 0;   //!< satoshi; negative fees come from prioritisetransaction
    int64_t size = 0; //!< AdjustedWeight

    FeeSize& operator+=(const FeeSize& other)
    {
        fee += other.fee;
        size += other.size;
        return *this;
    }
    FeeSize& operator-=(const FeeSize& other)
    {
        fee -= other.fee;
        size -= other.size;
        return *this;
    }
    bool operator==(const FeeSize&) const = default;
};

/** Compares fee per size. */
inline std::strong_ordering CompareRates(const FeeSize& a, const FeeSize& b)
{
    return static_cast<Int128>(a.fee) * b.size <=> static_cast<Int128>(b.fee) * a.size;
}

/** Satoshi for 1,000 units of the size, of modified fees; rounded towards 0. */
inline Amount RateOf(const FeeSize& paid)
{
    return static_cast<Amount>(static_cast<Int128>(paid.fee) * 1'000 / paid.size);
}

/** A feerate diagram is the curve of the total fee over the total size of chunks by falling rate,
 *  level after the last. Greater: it is nowhere below the other, and somewhere above. */
std::partial_ordering CompareDiagrams(std::span<const FeeSize> a, std::span<const FeeSize> b);

} // namespace ibd
