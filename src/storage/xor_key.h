// XorKey: the 8-byte key that obfuscates block files and database values, so that byte patterns
// chosen by others do not appear on disk. Not secret, no protection. Value type, pure functions.
#pragma once

#include "util/bytes.h"

#include <array>

namespace ibd {

class XorKey {
public:
    static constexpr size_t kSize = 8;

    constexpr XorKey() = default;
    explicit constexpr XorKey(const std::array<uint8_t, kSize>& bytes) : m_bytes(bytes) {}

    /** XORs `data`, which starts at `offset` of the file or value, with the repeated key. Its own
     *  inverse. */
    void Apply(MutableByteSpan data, uint64_t offset = 0) const
    {
        if (!IsZero()) Apply(data.data(), data.data(), data.size(), offset);
    }
    /** Copies and XORs: reading and de-obfuscation in one pass. */
    void Apply(uint8_t* to, const uint8_t* from, size_t size, uint64_t offset) const;

    bool IsZero() const { return *this == XorKey{}; }
    ByteSpan Span() const { return m_bytes; }
    bool operator==(const XorKey&) const = default;

private:
    std::array<uint8_t, kSize> m_bytes{};
};

} // namespace ibd
