// See xor_key.h.
#include "storage/xor_key.h"

namespace ibd {

namespace {

/** Two keys: a register of every machine with vectors, plain words on others. */
typedef uint64_t Vector __attribute__((vector_size(16)));
static_assert(sizeof(Vector) == 2 * XorKey::kSize);

} // namespace

void XorKey::Apply(uint8_t* to, const uint8_t* from, size_t size, uint64_t offset) const
{
    // The key as it meets byte 0 of the data, a vector of it in a register.
    uint8_t turned[2 * kSize];
    for (size_t i = 0; i < sizeof turned; ++i) turned[i] = m_bytes[(offset + i) % kSize];
    Vector key;
    std::memcpy(&key, turned, sizeof key);
    size_t i = 0;
    for (; i + sizeof key <= size; i += sizeof key) {
        Vector some;
        std::memcpy(&some, from + i, sizeof some);
        some ^= key;
        std::memcpy(to + i, &some, sizeof some);
    }
    for (; i < size; ++i) to[i] = static_cast<uint8_t>(from[i] ^ turned[i % sizeof turned]);
}

} // namespace ibd
