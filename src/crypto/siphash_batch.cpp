// See siphash_batch.h.
#include "crypto/siphash_batch.h"

#include "crypto/fastest_available.h"

#include <algorithm>

namespace ibd {

namespace sip {

namespace {

void HashOneByOne(SipKey key, const uint8_t* hashes, size_t count, uint64_t* out)
{
    Hash32 hash;
    for (size_t i = 0; i < count; ++i) {
        std::copy_n(hashes + hash.size() * i, hash.size(), hash.begin());
        out[i] = SipHash32(key, hash);
    }
}

} // namespace

std::span<const Backend> Backends()
{
    static const Backend list[] = {
        {"portable", true, HashOneByOne},
#if defined(__x86_64__)
        Avx2Backend(),
#endif
    };
    return list;
}

} // namespace sip

void SipHash32Many(SipKey key, const uint8_t* hashes, size_t count, uint64_t* out)
{
    static const sip::Backend& best = FastestAvailable(sip::Backends());
    best.hash(key, hashes, count, out);
}

} // namespace ibd
