// Uint256: 32 opaque bytes, a hash or an id. Stored in the byte order of the hash function;
// displayed reversed, as in all Bitcoin tools. A value type.
#pragma once

#include "util/bytes.h"

#include <array>
#include <compare>
#include <optional>

namespace ibd {

class Uint256 {
public:
    constexpr Uint256() = default;
    explicit constexpr Uint256(const std::array<uint8_t, 32>& bytes) : m_bytes(bytes) {}

    /** Copies the first 32 bytes at `p`. */
    static Uint256 FromBytes(const uint8_t* p)
    {
        Uint256 out;
        std::memcpy(out.m_bytes.data(), p, 32);
        return out;
    }
    /** Parses 64 hex digits in display (reversed) order. */
    static std::optional<Uint256> FromHex(std::string_view text);
    /** 64 lower-case hex digits in display (reversed) order. */
    std::string ToHex() const;

    bool IsNull() const { return *this == Uint256{}; }
    const uint8_t* data() const { return m_bytes.data(); }
    uint8_t* data() { return m_bytes.data(); }
    static constexpr size_t size() { return 32; }
    /** The bytes in the order of the hash functions. */
    const std::array<uint8_t, 32>& Array() const { return m_bytes; }
    ByteSpan Span() const { return m_bytes; }

    /** Order of the bytes in memory, the order of database keys. */
    auto operator<=>(const Uint256&) const = default;

private:
    std::array<uint8_t, 32> m_bytes{};
};

using Txid = Uint256;
using Wtxid = Uint256;
using BlockHash = Uint256;

/** Hash functor for tables whose keys an attacker cannot choose freely (block hashes). */
struct Uint256Hasher {
    size_t operator()(const Uint256& id) const
    {
        size_t v;
        std::memcpy(&v, id.data(), sizeof v);
        return v;
    }
};

} // namespace ibd
