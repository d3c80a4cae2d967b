// See siphash.h.
#include "crypto/siphash.h"

#include "crypto/siphash_round.h"
#include "util/endian.h"

namespace ibd {

namespace {

using namespace sip;

/** Absorbs the last word: up to seven bytes, with the message's size in the top byte. */
inline uint64_t Finish(State v, uint64_t size, uint64_t rest)
{
    Absorb(v, rest | size << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 4; ++i) Round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

inline State AbsorbHash(SipKey key, const Hash32& hash)
{
    State v = InitialState(key.k0, key.k1);
    for (size_t i = 0; i < 32; i += 8) Absorb(v, ReadLE64(hash.data() + i));
    return v;
}

} // namespace

SipHasher::SipHasher(SipKey key) : m_v(InitialState(key.k0, key.k1)) {}

SipHasher& SipHasher::Write(ByteSpan data)
{
    for (const uint8_t byte : data) {
        m_pending |= uint64_t{byte} << (m_size % 8 * 8);
        ++m_size;
        if (m_size % 8 == 0) {
            Absorb(m_v, m_pending);
            m_pending = 0;
        }
    }
    return *this;
}

SipHasher& SipHasher::Write(uint64_t value)
{
    if (m_size % 8 == 0) {
        Absorb(m_v, value);
        m_size += 8;
        return *this;
    }
    uint8_t bytes[8];
    WriteLE64(bytes, value);
    return Write(ByteSpan(bytes));
}

uint64_t SipHasher::Finalize() const { return Finish(m_v, m_size, m_pending); }

uint64_t SipHash32(SipKey key, const Hash32& hash) { return Finish(AbsorbHash(key, hash), 32, 0); }

uint64_t SipHash36(SipKey key, const Hash32& hash, uint32_t extra)
{
    return Finish(AbsorbHash(key, hash), 36, extra);
}

} // namespace ibd
