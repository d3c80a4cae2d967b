// See random_stream.h.
#include "crypto/random_stream.h"

#include "util/check.h"
#include "util/endian.h"

namespace ibd {

uint64_t RandomStream::U64()
{
    std::array<uint8_t, 8> bytes;
    Fill(bytes);
    return ReadLE64(bytes.data());
}

uint64_t RandomStream::Below(uint64_t n)
{
    CHECK(n > 0);
    // Draws again for the lowest 2^64 mod n numbers: the count of the others is a multiple of n.
    const uint64_t rejected = -n % n;
    uint64_t v;
    do {
        v = U64();
    } while (v < rejected);
    return v % n;
}

Hash32 RandomStream::Hash()
{
    Hash32 out;
    Fill(out);
    return out;
}

} // namespace ibd
