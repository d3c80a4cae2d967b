// Helpers over UniValue: numbers of all widths, flags.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

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

/** A boolean: `UniValue(x)` with a pointer or an integer would not make one. */
inline UniValue Bool(bool value) { return UniValue(value); }

} // namespace ibd
