// OutPointHasher and TxidHasher: keyed hash functors for tables whose keys strangers choose
// (mempool, coins cache). The key must be secret and random, or a peer can fill one bucket.
// Values; safe on any thread.
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

class TxidHasher {
public:
    explicit TxidHasher(SipKey key) : m_key(key) {}

    size_t operator()(const Txid& id) const noexcept { return SipHash32(m_key, id.Array()); }

private:
    SipKey m_key;
};

} // namespace ibd
