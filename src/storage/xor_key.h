// XorKey: the 8-byte key under which block files and database values are obfuscated, so that no
// foreign byte pattern lies on disk. Not secret, no protection. Value type, pure functions.
#pragma once

#include "util/bytes.h"

#include <array>

namespace ibd {

class XorKey {
public:
    static constexpr size_t kSize = 8;

    constexpr XorKey() = default;
    explicit constexpr XorKey(const std::array<uint8_t, kSize>& bytes) : m_bytes(bytes) {}

    /** XORs `data`, whose first byte lies at `offset` of the file or value, with the key repeated
     *  from offset 0. Its own inverse. */
    void Apply(MutableByteSpan data, uint64_t offset = 0) const
    {
        if (!IsZero()) Apply(data.data(), data.data(), data.size(), offset);
    }
    /** The same from one place to another: reading and de-obfuscation in one pass. */
    void Apply(uint8_t* to, const uint8_t* from, size_t size, uint64_t offset) const;

    bool IsZero() const { return *this == XorKey{}; }
    ByteSpan Span() const { return m_bytes; }
    bool operator==(const XorKey&) const = default;

private:
    std::array<uint8_t, kSize> m_bytes{};
};

} // namespace ibd
