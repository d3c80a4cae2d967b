// SipHash-2-4 (Aumasson, Bernstein 2012): keyed 64-bit hash for hash tables, BIP152 short ids and
// BIP158 filters. Values only; the key must be secret and random for tables fed by peers.
#pragma once

#include "crypto/sha256.h"

namespace ibd {

/** The 128-bit key as two little-endian words. */
struct SipKey {
    uint64_t k0 = 0;
    uint64_t k1 = 0;
};

/** Streaming SipHash-2-4. */
class SipHasher {
public:
    explicit SipHasher(SipKey key);

    SipHasher& Write(ByteSpan data);

    /** Appends the value as 8 little-endian bytes. */
    SipHasher& Write(uint64_t value);

    /** Hash of all bytes so far; the hasher is unchanged. */
    uint64_t Finalize() const;

private:
    std::array<uint64_t, 4> m_v;
    uint64_t m_pending = 0; //!< bytes not yet absorbed, low byte first
    uint64_t m_size = 0;
};

/** SipHash-2-4 of a 32-byte hash, fixed length. */
uint64_t SipHash32(SipKey key, const Hash32& hash);

/** SipHash-2-4 of a 32-byte hash and a 4-byte little-endian number (an outpoint). */
uint64_t SipHash36(SipKey key, const Hash32& hash, uint32_t extra);

} // namespace ibd
