// Reader and Writer: Bitcoin's wire and disk encoding with strict bounds. A Reader never reads past
// its span: after the first failure it stays failed, later reads return zeros, and Ok() reports the
// failure at the end.
#pragma once

#include "primitives/uint256.h"
#include "util/endian.h"

#include <cstdint>

namespace ibd {

/** Larger than any protocol object; a larger CompactSize is refused (32 MiB). */
inline constexpr uint64_t kMaxSerializedSize = 0x02000000;

class Reader {
public:
    // Faults, in the words of Core's log.
    static constexpr const char* kEndOfData = "DataStream::read(): end of data";
    static constexpr const char* kSizeNotMinimal = "non-canonical ReadCompactSize()";
    static constexpr const char* kSizeTooLarge = "ReadCompactSize(): size too large";

    explicit Reader(ByteSpan data) : m_data(data) {}

    bool Ok() const { return m_fault == nullptr; }
    /** The first fault; null: none. */
    const char* Fault() const { return m_fault; }
    size_t Position() const { return m_pos; }
    size_t Remaining() const { return m_data.size() - m_pos; }
    /** Whether all was read without a failure. */
    bool AtEnd() const { return Ok() && Remaining() == 0; }
    void Fail(const char* fault = kEndOfData)
    {
        if (Ok()) m_fault = fault;
    }

    uint8_t U8() { return Int<uint8_t>(); }
    uint16_t U16() { return Int<uint16_t>(); }
    uint32_t U32() { return Int<uint32_t>(); }
    uint64_t U64() { return Int<uint64_t>(); }
    int64_t I64() { return static_cast<int64_t>(Int<uint64_t>()); }
    Uint256 Hash()
    {
        const uint8_t* p = Take(32);
        return p ? Uint256::FromBytes(p) : Uint256{};
    }
    /** A view of the next n bytes; empty on failure. */
    ByteSpan Span(size_t n)
    {
        const uint8_t* p = Take(n);
        return p ? ByteSpan(p, n) : ByteSpan();
    }
    /** The bytes read since an earlier Position(). */
    ByteSpan Since(size_t position) const { return m_data.subspan(position, m_pos - position); }
    /** Length prefix of 1, 3, 5 or 9 bytes; fails if not minimal, or above 32 MiB with
     *  `range_check`. */
    uint64_t CompactSize(bool range_check = true)
    {
        const uint8_t first = U8();
        return first < 253 ? first : LongCompactSize(first, range_check);
    }
    /** CompactSize of a list whose elements take at least `element_size` bytes each. Fails if that
     *  many cannot follow, so the count is safe to allocate. */
    size_t Count(size_t element_size)
    {
        const uint64_t n = CompactSize();
        if (n > Remaining() / element_size) Fail();
        return Ok() ? static_cast<size_t>(n) : 0;
    }
    /** Core's disk VARINT: base 128, most significant first, bijective. Fails on overflow. */
    uint64_t VarInt();
    /** CompactSize and that many bytes, without a copy. */
    ByteSpan VarBytes() { return Span(CompactSize()); }

private:
    /** The rest of a CompactSize whose first byte is 253, 254 or 255. */
    uint64_t LongCompactSize(uint8_t first, bool range_check);
    /** Pointer to the next n bytes, and moves past them; or nullptr and failure. */
    const uint8_t* Take(size_t n)
    {
        if (!Ok() || n > Remaining()) {
            Fail();
            return nullptr;
        }
        const uint8_t* p = m_data.data() + m_pos;
        m_pos += n;
        return p;
    }
    template <typename T>
    T Int()
    {
        const uint8_t* p = Take(sizeof(T));
        return p ? ReadLE<T>(p) : T{0};
    }

    ByteSpan m_data;
    size_t m_pos = 0;
    const char* m_fault = nullptr;
};

/** Most bytes that PutVarInt() writes, including bytes after the number. */
inline constexpr size_t kVarIntRoom = 10;
/** Writes a VARINT to memory with kVarIntRoom bytes; returns its end. */
uint8_t* PutVarInt(uint8_t* to, uint64_t v);

/** Appends to a byte string that the caller owns. */
class Writer {
public:
    explicit Writer(Bytes& out) : m_out(out) {}

    void U8(uint8_t v) { m_out.push_back(v); }
    void U16(uint16_t v) { Int(v); }
    void U32(uint32_t v) { Int(v); }
    void U64(uint64_t v) { Int(v); }
    void I64(int64_t v) { Int(static_cast<uint64_t>(v)); }
    void Hash(const Uint256& v) { Append(m_out, v.Span()); }
    void Raw(ByteSpan v) { Append(m_out, v); }
    void CompactSize(uint64_t v);
    void VarInt(uint64_t v);
    void VarBytes(ByteSpan v)
    {
        CompactSize(v.size());
        Raw(v);
    }

private:
    template <typename T>
    void Int(T v)
    {
        uint8_t b[sizeof(T)];
        WriteLE<T>(b, v);
        m_out.insert(m_out.end(), b, b + sizeof(T));
    }
    Bytes& m_out;
};

/** Bytes of CompactSize(v): 1, 3, 5 or 9. */
constexpr size_t CompactSizeLength(uint64_t v)
{
    return v < 253 ? 1 : v <= 0xffff ? 3 : v <= 0xffffffff ? 5 : 9;
}

} // namespace ibd
