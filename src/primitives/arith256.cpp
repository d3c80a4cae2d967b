// See arith256.h.
#include "primitives/arith256.h"

#include "util/check.h"
#include "util/endian.h"

#include <bit>

namespace ibd {

namespace {
__extension__ typedef unsigned __int128 Wide; // two limbs
}

Arith256 Arith256::FromUint256(const Uint256& bytes)
{
    Arith256 out;
    for (size_t i = 0; i < 4; ++i) out.m_limbs[i] = ReadLE64(bytes.data() + 8 * i);
    return out;
}

Uint256 Arith256::ToUint256() const
{
    Uint256 out;
    for (size_t i = 0; i < 4; ++i) WriteLE64(out.data() + 8 * i, m_limbs[i]);
    return out;
}

std::string Arith256::ToHex() const { return ToUint256().ToHex(); }

std::optional<Arith256> Arith256::FromHex(std::string_view text)
{
    const std::optional<Uint256> bytes = Uint256::FromHex(text);
    if (!bytes) return std::nullopt;
    return FromUint256(*bytes);
}

Arith256& Arith256::operator+=(const Arith256& o)
{
    Wide carry = 0;
    for (size_t i = 0; i < 4; ++i) {
        carry += Wide{m_limbs[i]} + o.m_limbs[i];
        m_limbs[i] = static_cast<uint64_t>(carry);
        carry >>= 64;
    }
    return *this;
}

Arith256& Arith256::operator-=(const Arith256& o)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < 4; ++i) {
        const Wide difference = Wide{m_limbs[i]} - o.m_limbs[i] - borrow;
        m_limbs[i] = static_cast<uint64_t>(difference);
        borrow = (difference >> 64) != 0;
    }
    return *this;
}

Arith256& Arith256::operator*=(const Arith256& o)
{
    Arith256 product;
    for (size_t i = 0; i < 4; ++i) {
        Wide carry = 0;
        for (size_t j = 0; i + j < 4; ++j) {
            carry += Wide{m_limbs[i]} * o.m_limbs[j] + product.m_limbs[i + j];
            product.m_limbs[i + j] = static_cast<uint64_t>(carry);
            carry >>= 64;
        }
    }
    return *this = product;
}

Arith256& Arith256::operator/=(const Arith256& o)
{
    const unsigned divisor_bits = o.BitLength();
    CHECK(divisor_bits != 0);
    const unsigned bits = BitLength();
    Arith256 rest = *this;
    *this = Arith256{};
    if (divisor_bits > bits) return *this;
    Arith256 divisor = o << (bits - divisor_bits);
    for (unsigned shift = bits - divisor_bits;; --shift) {
        if (rest >= divisor) {
            rest -= divisor;
            m_limbs[shift / 64] |= uint64_t{1} << (shift % 64);
        }
        if (shift == 0) return *this;
        divisor >>= 1;
    }
}

Arith256& Arith256::operator<<=(unsigned bits)
{
    const Arith256 from = *this;
    const unsigned limbs = bits / 64, rest = bits % 64;
    for (unsigned i = 0; i < 4; ++i) {
        m_limbs[i] = i >= limbs ? from.m_limbs[i - limbs] << rest : 0;
        if (rest && i >= limbs + 1) m_limbs[i] |= from.m_limbs[i - limbs - 1] >> (64 - rest);
    }
    return *this;
}

Arith256& Arith256::operator>>=(unsigned bits)
{
    const Arith256 from = *this;
    const unsigned limbs = bits / 64, rest = bits % 64;
    for (unsigned i = 0; i < 4; ++i) {
        m_limbs[i] = i + limbs < 4 ? from.m_limbs[i + limbs] >> rest : 0;
        if (rest && i + limbs + 1 < 4) m_limbs[i] |= from.m_limbs[i + limbs + 1] << (64 - rest);
    }
    return *this;
}

Arith256 Arith256::operator~() const
{
    Arith256 out;
    for (size_t i = 0; i < 4; ++i) out.m_limbs[i] = ~m_limbs[i];
    return out;
}

std::strong_ordering Arith256::operator<=>(const Arith256& o) const
{
    for (size_t i = 4; i-- > 0;) {
        if (m_limbs[i] != o.m_limbs[i]) return m_limbs[i] <=> o.m_limbs[i];
    }
    return std::strong_ordering::equal;
}

unsigned Arith256::BitLength() const
{
    for (unsigned i = 4; i-- > 0;) {
        if (m_limbs[i]) return 64 * i + static_cast<unsigned>(std::bit_width(m_limbs[i]));
    }
    return 0;
}

double Arith256::ToDouble() const
{
    constexpr double kLimb = 18446744073709551616.0; // 2^64
    double out = 0;
    for (size_t i = 4; i-- > 0;) out = out * kLimb + static_cast<double>(m_limbs[i]);
    return out;
}

Arith256 Arith256::FromCompact(uint32_t bits, bool* negative, bool* overflow)
{
    // A float of base 256: a byte count, a sign bit, 23 bits of mantissa.
    const unsigned size = bits >> 24;
    uint32_t mantissa = bits & 0x007fffff;
    if (size <= 3) mantissa >>= 8 * (3 - size);
    if (negative) *negative = mantissa != 0 && (bits & 0x00800000) != 0;
    if (overflow) {
        *overflow = mantissa != 0 && (size > 34 || (mantissa > 0xff && size > 33) ||
                                      (mantissa > 0xffff && size > 32));
    }
    Arith256 out(mantissa);
    if (size > 3) out <<= 8 * (size - 3);
    return out;
}

uint32_t Arith256::ToCompact() const
{
    unsigned size = (BitLength() + 7) / 8;
    uint32_t mantissa = static_cast<uint32_t>(size <= 3 ? Low64() << 8 * (3 - size)
                                                        : (*this >> 8 * (size - 3)).Low64());
    if (mantissa & 0x00800000) { // would be read as the sign
        mantissa >>= 8;
        ++size;
    }
    return mantissa | size << 24;
}

} // namespace ibd
