// See xor_key.h.
#include "storage/xor_key.h"

#include <bit>

namespace ibd {

namespace {

/** XORs whole vectors of Size bytes; returns the number of bytes done. `key`: aligned with byte 0,
 *  at least a vector long. */
template <size_t Size>
[[gnu::always_inline]] inline size_t ApplyVectors(uint8_t* to, const uint8_t* from, size_t size,
                                                  const uint8_t* key)
{
    typedef uint64_t Vector __attribute__((vector_size(Size)));
    static_assert(Size % XorKey::kSize == 0);
    Vector turned;
    std::memcpy(&turned, key, Size);
    size_t i = 0;
    for (; i + Size <= size; i += Size) {
        Vector some;
        std::memcpy(&some, from + i, Size);
        some ^= turned;
        std::memcpy(to + i, &some, Size);
    }
    return i;
}

using ApplyFunction = size_t (*)(uint8_t* to, const uint8_t* from, size_t size, const uint8_t* key);

/** 16 bytes fit a register of every machine with vectors; others use plain words. */
size_t ApplySixteen(uint8_t* to, const uint8_t* from, size_t size, const uint8_t* key)
{
    return ApplyVectors<16>(to, from, size, key);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) size_t ApplyThirtyTwo(uint8_t* to, const uint8_t* from, size_t size,
                                                      const uint8_t* key)
{
    return ApplyVectors<32>(to, from, size, key);
}

__attribute__((target("avx512f"))) size_t ApplySixtyFour(uint8_t* to, const uint8_t* from,
                                                         size_t size, const uint8_t* key)
{
    return ApplyVectors<64>(to, from, size, key);
}
#endif

ApplyFunction Fastest()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return ApplySixtyFour;
    if (__builtin_cpu_supports("avx2")) return ApplyThirtyTwo;
#endif
    return ApplySixteen;
}

} // namespace

void XorKey::Apply(uint8_t* to, const uint8_t* from, size_t size, uint64_t offset) const
{
    static const ApplyFunction apply_vectors = Fastest();
    constexpr size_t kMost = 64;
    const auto shift = static_cast<int>(8 * (offset % kSize));
    uint64_t word;
    std::memcpy(&word, m_bytes.data(), kSize);
    word = std::endian::native == std::endian::little ? std::rotr(word, shift)
                                                      : std::rotl(word, shift);
    uint8_t turned[kMost]; // the key, rotated to align with byte 0 of the data
    for (size_t i = 0; i < kMost; i += kSize) std::memcpy(turned + i, &word, kSize);
    size_t i = size < kMost ? 0 : apply_vectors(to, from, size, turned);
    i += ApplySixteen(to + i, from + i, size - i, turned);
    for (; i < size; ++i) to[i] = static_cast<uint8_t>(from[i] ^ turned[i % kMost]);
}

} // namespace ibd
