// OutPointHasher: keyed hash functor for tables whose keys an attacker can choose (the coins
// cache). The key must be secret and random, or a peer could fill one bucket. A value; safe on any
// thread.
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

} // namespace ibd
