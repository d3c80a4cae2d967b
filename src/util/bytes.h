// Byte strings and views of them, used by every module. Spans do not own their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ibd {

using Bytes = std::vector<uint8_t>;
using ByteSpan = std::span<const uint8_t>;
using MutableByteSpan = std::span<uint8_t>;

/** The bytes of a string, without a copy. */
inline ByteSpan AsBytes(std::string_view s)
{
    return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

/** The bytes as characters, without a copy. */
inline std::string_view AsChars(ByteSpan b)
{
    return {reinterpret_cast<const char*>(b.data()), b.size()};
}

inline void Append(Bytes& to, ByteSpan from) { to.insert(to.end(), from.begin(), from.end()); }

} // namespace ibd
