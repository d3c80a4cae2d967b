// Arith256: an unsigned 256-bit integer for targets and chain work, wrapping mod 2^256.
#pragma once

#include "primitives/uint256.h"

#include <array>
#include <compare>
#include <cstdint>

namespace ibd {

class Arith256 {
public:
    constexpr Arith256() = default;
    constexpr Arith256(uint64_t low) : m_limbs{low, 0, 0, 0} {}

    /** Reads the 32 bytes as a little-endian number, as for comparing a block hash with its target.
     */
    static Arith256 FromUint256(const Uint256& bytes);
    Uint256 ToUint256() const;
    /** 64 hex digits, most significant first. */
    std::string ToHex() const;
    static std::optional<Arith256> FromHex(std::string_view text);

    Arith256& operator+=(const Arith256& o);
    Arith256& operator-=(const Arith256& o);
    Arith256& operator*=(const Arith256& o);
    /** Quotient; the divisor must not be zero. */
    Arith256& operator/=(const Arith256& o);
    Arith256& operator<<=(unsigned bits);
    Arith256& operator>>=(unsigned bits);
    Arith256 operator~() const;
    friend Arith256 operator+(Arith256 a, const Arith256& b) { return a += b; }
    friend Arith256 operator-(Arith256 a, const Arith256& b) { return a -= b; }
    friend Arith256 operator*(Arith256 a, const Arith256& b) { return a *= b; }
    friend Arith256 operator/(Arith256 a, const Arith256& b) { return a /= b; }
    friend Arith256 operator<<(Arith256 a, unsigned n) { return a <<= n; }
    friend Arith256 operator>>(Arith256 a, unsigned n) { return a >>= n; }
    bool operator==(const Arith256&) const = default;
    std::strong_ordering operator<=>(const Arith256& o) const;

    /** Number of the highest set bit plus one; 0 for zero. */
    unsigned BitLength() const;
    uint64_t Low64() const { return m_limbs[0]; }
    /** Nearest double, to show progress and difficulty. */
    double ToDouble() const;

    /** Decodes the compact "nBits" form of a header; `negative` and `overflow` report the two ways
     *  in which it is no valid target. */
    static Arith256 FromCompact(uint32_t bits, bool* negative = nullptr, bool* overflow = nullptr);
    uint32_t ToCompact() const;

private:
    std::array<uint64_t, 4> m_limbs{}; //!< least significant first
};

} // namespace ibd
