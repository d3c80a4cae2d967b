// See uint256.h.
#include "primitives/uint256.h"

#include "util/hex.h"

#include <algorithm>

namespace ibd {

std::optional<Uint256> Uint256::FromHex(std::string_view text)
{
    if (text.size() != 2 * size()) return std::nullopt;
    std::optional<Bytes> bytes = ibd::FromHex(text);
    if (!bytes) return std::nullopt;
    std::reverse(bytes->begin(), bytes->end());
    return FromBytes(bytes->data());
}

std::string Uint256::ToHex() const
{
    std::array<uint8_t, 32> reversed = m_bytes;
    std::reverse(reversed.begin(), reversed.end());
    return ibd::ToHex(reversed);
}

} // namespace ibd
