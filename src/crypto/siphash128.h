// SipHash-2-4 with 128 bits of output, for outpoints (36 bytes): a keyed hash whose collisions
// cannot be found without the key, much cheaper than a cryptographic hash. The txid is absorbed
// once for all outputs of a transaction. Values only.
#pragma once

#include "crypto/siphash.h"
#include "crypto/siphash_round.h"
#include "util/endian.h"

namespace ibd {

/** A hash of 128 bits as the two little-endian words of its 16 bytes. */
struct Hash128 {
    uint64_t first = 0;
    uint64_t second = 0;

    bool operator==(const Hash128&) const = default;
};

class OutpointHash {
public:
    explicit OutpointHash(SipKey key) : m_start(sip::InitialState(key.k0, key.k1))
    {
        m_start[1] ^= 0xee; // as in the reference code for the longer output
    }

    /** The state after absorbing the id of a transaction; `txid`: 32 bytes. */
    sip::State Begin(const uint8_t* txid) const
    {
        sip::State v = m_start;
        for (size_t i = 0; i < 32; i += 8) sip::Absorb(v, ReadLE64(txid + i));
        return v;
    }
    /** The hash of txid and `vout` (little-endian). */
    static Hash128 Finish(sip::State v, uint32_t vout)
    {
        constexpr uint64_t kSize = 36;
        sip::Absorb(v, vout | kSize << 56);
        v[2] ^= 0xee;
        Hash128 out;
        out.first = Squeeze(v);
        v[1] ^= 0xdd;
        out.second = Squeeze(v);
        return out;
    }

private:
    static uint64_t Squeeze(sip::State& v)
    {
        for (int i = 0; i < 4; ++i) sip::Round(v);
        return v[0] ^ v[1] ^ v[2] ^ v[3];
    }

    sip::State m_start;
};

} // namespace ibd
