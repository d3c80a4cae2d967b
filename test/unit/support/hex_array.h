// Arrays of test vectors.
#pragma once

#include "util/hex.h"

#include <algorithm>

#include "support/catch.h"

namespace ibd::test {

/** `hex` has exactly the digits that the array takes. */
template <typename Array>
Array FromHexArray(std::string_view hex)
{
    const Bytes bytes = *FromHex(hex);
    Array out{};
    REQUIRE(bytes.size() == out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
}

} // namespace ibd::test
