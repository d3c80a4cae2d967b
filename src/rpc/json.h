// Helpers over UniValue: numbers of all widths, amounts with eight decimals.
#pragma once

#include "primitives/tx_view.h"
#include "util/strings.h"

#include <univalue.h>

namespace ibd {

/** Any integer as a JSON number. */
template <std::integral T>
UniValue Num(T value)
{
    if constexpr (std::is_signed_v<T>)
        return UniValue(static_cast<int64_t>(value));
    else
        return UniValue(static_cast<uint64_t>(value));
}

/** An amount as a JSON number in bitcoin, "50.00000000". */
inline UniValue AmountJson(Amount amount)
{
    UniValue v;
    v.setNumStr(FormatAmount(amount));
    return v;
}

/** A boolean; `UniValue(x)` of a pointer or integer would not be one. */
inline UniValue Bool(bool value) { return UniValue(value); }

} // namespace ibd
