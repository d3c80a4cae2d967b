// UnzeroedBytes: a buffer that its owner fills at once, as from a file. The type Bytes would zero
// its memory first, which costs as much as a read from the system's cache. Moved, not copied; fixed
// size.
#pragma once

#include "util/bytes.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ibd {

class UnzeroedBytes {
public:
    UnzeroedBytes() = default;
    /** The contents are undefined until the caller has written all of them. */
    explicit UnzeroedBytes(size_t size)
        : m_data(std::make_unique_for_overwrite<uint8_t[]>(size)), m_size(size)
    {
    }
    UnzeroedBytes(UnzeroedBytes&& other) noexcept
        : m_data(std::move(other.m_data)), m_size(std::exchange(other.m_size, 0))
    {
    }
    UnzeroedBytes& operator=(UnzeroedBytes&& other) noexcept
    {
        m_data = std::move(other.m_data);
        m_size = std::exchange(other.m_size, 0);
        return *this;
    }

    uint8_t* data() { return m_data.get(); }
    const uint8_t* data() const { return m_data.get(); }
    size_t size() const { return m_size; }
    bool empty() const { return m_size == 0; }
    uint8_t* begin() { return data(); }
    const uint8_t* begin() const { return data(); }
    uint8_t* end() { return data() + m_size; }
    const uint8_t* end() const { return data() + m_size; }

    friend bool operator==(const UnzeroedBytes& a, ByteSpan b) { return std::ranges::equal(a, b); }

private:
    std::unique_ptr<uint8_t[]> m_data;
    size_t m_size = 0;
};

} // namespace ibd
