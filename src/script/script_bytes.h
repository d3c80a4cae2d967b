// ScriptBytes: an owned script of at most 10,000 bytes in practice. Scripts up to 36 bytes (all
// standard outputs except bare multisig and uncompressed P2PK) live inside the object; longer ones
// on the heap. 40 bytes, cheap to move. A value type.
#pragma once

#include "util/bytes.h"

#include <utility>

namespace ibd {

class ScriptBytes {
public:
    static constexpr size_t kInline = 36;

    ScriptBytes() noexcept : m_size(0) {}
    ScriptBytes(ByteSpan bytes) : m_size(0) { Assign(bytes); }
    ScriptBytes(const Bytes& bytes) : ScriptBytes(ByteSpan(bytes)) {}
    ScriptBytes(const ScriptBytes& o) : ScriptBytes(o.Span()) {}
    ScriptBytes(ScriptBytes&& o) noexcept { Take(o); }
    ScriptBytes& operator=(const ScriptBytes& o)
    {
        if (this != &o) Assign(o.Span());
        return *this;
    }
    ScriptBytes& operator=(ScriptBytes&& o) noexcept
    {
        if (this != &o) {
            Free();
            Take(o);
        }
        return *this;
    }
    ~ScriptBytes() { Free(); }

    /** Replaces the contents; `bytes` must not be inside this object. */
    void Assign(ByteSpan bytes)
    {
        uint8_t* to = Reset(bytes.size());
        if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    }
    /** Allocates `size` bytes with unspecified contents; returns the buffer to write them to. */
    uint8_t* Reset(size_t size)
    {
        Free();
        m_size = static_cast<uint32_t>(size);
        if (IsInline()) return m_inline;
        uint8_t* heap = new uint8_t[size];
        std::memcpy(m_inline, &heap, sizeof heap);
        return heap;
    }

    size_t size() const { return m_size; }
    bool empty() const { return m_size == 0; }
    const uint8_t* data() const { return IsInline() ? m_inline : Heap(); }
    ByteSpan Span() const { return {data(), m_size}; }
    operator ByteSpan() const { return Span(); }
    /** Bytes on the heap, for memory accounting. */
    size_t HeapBytes() const { return IsInline() ? 0 : m_size; }

    friend bool operator==(const ScriptBytes& a, const ScriptBytes& b)
    {
        return a.m_size == b.m_size && std::memcmp(a.data(), b.data(), a.m_size) == 0;
    }

private:
    bool IsInline() const { return m_size <= kInline; }
    uint8_t* Heap() const
    {
        uint8_t* heap;
        std::memcpy(&heap, m_inline, sizeof heap);
        return heap;
    }
    void Free()
    {
        if (!IsInline()) delete[] Heap();
        m_size = 0;
    }
    void Take(ScriptBytes& o) noexcept
    {
        m_size = o.m_size;
        std::memcpy(m_inline, o.m_inline, IsInline() ? m_size : sizeof(uint8_t*));
        o.m_size = 0;
    }

    uint32_t m_size;
    uint8_t m_inline[kInline]; //!< the bytes, or a pointer to them when m_size > kInline
};

static_assert(sizeof(ScriptBytes) == 40);

} // namespace ibd
