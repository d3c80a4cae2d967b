// See xor_key.h.
#include "storage/xor_key.h"

namespace ibd {

void XorKey::Apply(uint8_t* to, const uint8_t* from, size_t size, uint64_t offset) const
{
    // The key as it meets byte 0 of the data, in a register: eight bytes at a time, which the
    // compiler widens to vectors.
    uint8_t turned[kSize];
    for (size_t i = 0; i < kSize; ++i) turned[i] = m_bytes[(offset + i) % kSize];
    uint64_t key;
    std::memcpy(&key, turned, kSize);
    size_t i = 0;
    for (; i + kSize <= size; i += kSize) {
        uint64_t word;
        std::memcpy(&word, from + i, kSize);
        word ^= key;
        std::memcpy(to + i, &word, kSize);
    }
    for (; i < size; ++i) to[i] = static_cast<uint8_t>(from[i] ^ turned[i % kSize]);
}

} // namespace ibd
