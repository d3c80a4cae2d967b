// Keyed hash functors for tables whose keys an attacker can choose: the coins cache, the pool. The
// key must be secret and random, or a peer could fill one bucket. Values; safe on any thread.
#pragma once

#include "crypto/siphash.h"
#include "primitives/tx_view.h"

namespace ibd {

class OutPointHasher {
public:
    explicit OutPointHasher(SipKey key) : m_key(key) {}

    size_t operator()(const OutPoint& outpoint) const noexcept
    {
        return SipHash36(m_key, outpoint.txid.Array(), outpoint.vout);
    }

private:
    SipKey m_key;
};

/** Hashes a txid, or another 32-byte hash. */
class HashHasher {
public:
    explicit HashHasher(SipKey key) : m_key(key) {}

    size_t operator()(const Uint256& hash) const noexcept { return SipHash32(m_key, hash.Array()); }

private:
    SipKey m_key;
};

} // namespace ibd
