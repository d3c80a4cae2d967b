// Integers to and from bytes in an explicit byte order, at any alignment. Bitcoin's wire and disk
// order is little-endian; big-endian occurs in the padding of hashes and in network addresses.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace ibd {

template <std::unsigned_integral T>
constexpr T ByteSwap(T v)
{
    if constexpr (sizeof(T) == 1) return v;
    if constexpr (sizeof(T) == 2) return __builtin_bswap16(v);
    if constexpr (sizeof(T) == 4) return __builtin_bswap32(v);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(v);
}

template <std::unsigned_integral T>
T ReadLE(const uint8_t* p)
{
    T v;
    std::memcpy(&v, p, sizeof v);
    return std::endian::native == std::endian::little ? v : ByteSwap(v);
}

template <std::unsigned_integral T>
T ReadBE(const uint8_t* p)
{
    T v;
    std::memcpy(&v, p, sizeof v);
    return std::endian::native == std::endian::big ? v : ByteSwap(v);
}

template <std::unsigned_integral T>
void WriteLE(uint8_t* p, T v)
{
    if constexpr (std::endian::native != std::endian::little) v = ByteSwap(v);
    std::memcpy(p, &v, sizeof v);
}

template <std::unsigned_integral T>
void WriteBE(uint8_t* p, T v)
{
    if constexpr (std::endian::native != std::endian::big) v = ByteSwap(v);
    std::memcpy(p, &v, sizeof v);
}

inline uint16_t ReadLE16(const uint8_t* p) { return ReadLE<uint16_t>(p); }
inline uint32_t ReadLE32(const uint8_t* p) { return ReadLE<uint32_t>(p); }
inline uint64_t ReadLE64(const uint8_t* p) { return ReadLE<uint64_t>(p); }
inline uint32_t ReadBE32(const uint8_t* p) { return ReadBE<uint32_t>(p); }
inline uint64_t ReadBE64(const uint8_t* p) { return ReadBE<uint64_t>(p); }
inline void WriteLE16(uint8_t* p, uint16_t v) { WriteLE(p, v); }
inline void WriteLE32(uint8_t* p, uint32_t v) { WriteLE(p, v); }
inline void WriteLE64(uint8_t* p, uint64_t v) { WriteLE(p, v); }
inline void WriteBE32(uint8_t* p, uint32_t v) { WriteBE(p, v); }
inline void WriteBE64(uint8_t* p, uint64_t v) { WriteBE(p, v); }

} // namespace ibd
