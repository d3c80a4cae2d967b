// RandomStream: unpredictable numbers without the seed, and the same numbers for the same seed.
// Peer logic draws from it, so that a whole simulated network is reproducible. ChaCha20 of the
// seed. Owned by one thread.
#pragma once

#include "crypto/chacha20.h"

#include <utility>

namespace ibd {

class RandomStream {
public:
    explicit RandomStream(const Hash32& seed) : m_cipher(seed) {}

    uint64_t U64();
    /** 0 .. n-1, uniformly; n must not be 0. */
    uint64_t Below(uint64_t n);
    bool Coin() { return (U64() & 1) != 0; }
    template <typename List>
    void Shuffle(List& list)
    {
        for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[Below(i)]);
    }
    void Fill(MutableByteSpan out) { m_cipher.Keystream(out); }
    Hash32 Hash();

private:
    ChaCha20 m_cipher;
};

} // namespace ibd
