// BitReader, BitWriter: strings of bits, least significant bit of each byte first.
#pragma once

#include "util/bytes.h"
#include "util/endian.h"

#include <algorithm>
#include <bit>

namespace ibd {

/** Reads zeros past the end; check with Used() or CheckEnd() at the end. */
class BitReader {
public:
    explicit BitReader(ByteSpan data) : m_data(data) {}

    /** The next bits; at least 57 of them are valid. */
    uint64_t Peek() const
    {
        const size_t at = m_bit / 8;
        uint64_t word = 0;
        if (at + 8 <= m_data.size()) {
            word = ReadLE64(m_data.data() + at);
        } else {
            for (size_t i = at; i < m_data.size(); ++i) word |= uint64_t{m_data[i]} << 8 * (i - at);
        }
        return word >> m_bit % 8;
    }
    void Skip(unsigned bits) { m_bit += bits; }
    size_t Used() const { return m_bit; }

    /** Length of the run of one bits here, at most `limit` + 56; skips the run and the zero after
     *  it. */
    uint64_t Unary(uint64_t limit)
    {
        uint64_t ones = 0;
        for (;;) {
            const auto here = std::min(57, std::countr_one(Peek()));
            ones += static_cast<uint64_t>(here);
            if (here < 57 || ones > limit) {
                Skip(static_cast<unsigned>(here) + 1);
                return ones;
            }
            Skip(57);
        }
    }

    /** Length of the run of zero bits here; skips the run and the one after it. Without a following
     *  one: more than there are bits. */
    uint64_t Zeros()
    {
        uint64_t zeros = 0;
        while (m_bit < m_data.size() * 8) {
            const auto here = std::min(57, std::countr_zero(Peek() | uint64_t{1} << 63));
            zeros += static_cast<uint64_t>(here);
            Skip(static_cast<unsigned>(here));
            if (here == 57) continue;
            Skip(1);
            return zeros;
        }
        return m_data.size() * 8 + 1;
    }

    /** Null if all bits were read, except zeros that fill the last byte. */
    const char* CheckEnd() const
    {
        if (m_bit > m_data.size() * 8) return "the bits are cut off";
        if ((m_bit + 7) / 8 != m_data.size()) return "bytes follow the bits";
        if (m_bit % 8 && m_data.back() >> m_bit % 8) return "padding bits are not zero";
        return nullptr;
    }

private:
    ByteSpan m_data;
    size_t m_bit = 0;
};

/** Appends to a byte string that the caller owns; complete when destroyed. */
class BitWriter {
public:
    explicit BitWriter(Bytes& out) : m_out(out) {}
    BitWriter(const BitWriter&) = delete;
    BitWriter& operator=(const BitWriter&) = delete;
    ~BitWriter() { Finish(); }
    /** Fills the last byte with zeros. */
    void Finish()
    {
        if (m_have) m_out.push_back(static_cast<uint8_t>(m_pending));
        m_pending = m_have = 0;
    }
    void Put(uint64_t bits, unsigned count)
    {
        for (unsigned i = 0; i < count; ++i) {
            m_pending |= (bits >> i & 1) << m_have;
            if (++m_have == 8) {
                m_out.push_back(static_cast<uint8_t>(m_pending));
                m_pending = m_have = 0;
            }
        }
    }

private:
    Bytes& m_out;
    uint64_t m_pending = 0;
    unsigned m_have = 0;
};

} // namespace ibd
