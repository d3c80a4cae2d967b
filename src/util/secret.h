// Secrets as values: their bytes are kept in the locked pool (locked_pool.h) and wiped at the end.
// Intermediate copies (decoded text, copies of a library) are not covered.
#pragma once

#include "util/bytes.h"
#include "util/locked_pool.h"

#include <array>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace ibd {

/** A fixed number of bytes, zeros at first. Used like the array that it holds. */
template <size_t N>
class SecretArray {
public:
    using Array = std::array<uint8_t, N>;

    SecretArray() : m_array(new (LockedPool::OfProcess().Allocate(sizeof(Array))) Array{}) {}
    SecretArray(const Array& bytes) : SecretArray() { *m_array = bytes; }
    SecretArray(const SecretArray& other) : SecretArray(*other.m_array) {}
    SecretArray& operator=(const SecretArray& other)
    {
        if (this != &other) *m_array = *other.m_array;
        return *this;
    }
    ~SecretArray() { LockedPool::OfProcess().Free(m_array); }

    operator const Array&() const { return *m_array; }
    uint8_t* data() { return m_array->data(); }
    const uint8_t* data() const { return m_array->data(); }
    static constexpr size_t size() { return N; }
    uint8_t& operator[](size_t i) { return (*m_array)[i]; }
    uint8_t operator[](size_t i) const { return (*m_array)[i]; }
    auto begin() { return m_array->begin(); }
    auto end() { return m_array->end(); }
    auto begin() const { return std::as_const(*m_array).begin(); }
    auto end() const { return std::as_const(*m_array).end(); }

    /** Constant time: does not depend on the first difference. */
    bool operator==(const SecretArray& other) const { return *this == *other.m_array; }
    bool operator==(const Array& other) const
    {
        uint8_t difference = 0;
        for (size_t i = 0; i < N; ++i) difference |= (*m_array)[i] ^ other[i];
        return difference == 0;
    }

private:
    Array* const m_array;
};

/** A number of bytes fixed at construction: passwords, and keys as text. */
class SecretText {
public:
    SecretText() = default;
    explicit SecretText(std::initializer_list<std::string_view> parts);
    SecretText(const SecretText&) = delete;
    SecretText& operator=(const SecretText&) = delete;
    SecretText(SecretText&& other) noexcept;
    SecretText& operator=(SecretText&& other) noexcept;
    ~SecretText() { LockedPool::OfProcess().Free(m_text); }

    std::string_view View() const { return {m_text, m_size}; }
    bool IsEmpty() const { return m_size == 0; }

private:
    char* m_text = nullptr;
    size_t m_size = 0;
};

/** Overwrites an intermediate copy of a secret at the end of its scope. */
class WipedAtEnd {
public:
    explicit WipedAtEnd(MutableByteSpan memory) : m_memory(memory) {}
    WipedAtEnd(const WipedAtEnd&) = delete;
    WipedAtEnd& operator=(const WipedAtEnd&) = delete;
    ~WipedAtEnd() { ::explicit_bzero(m_memory.data(), m_memory.size()); }

private:
    const MutableByteSpan m_memory;
};

} // namespace ibd
