// See chacha20.h.
#include "crypto/chacha20.h"

#include "util/check.h"
#include "util/endian.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

using Words = std::array<uint32_t, 16>;

template <size_t A, size_t B, size_t C, size_t D>
inline void QuarterRound(Words& x)
{
    x[A] += x[B];
    x[D] = std::rotl(x[D] ^ x[A], 16);
    x[C] += x[D];
    x[B] = std::rotl(x[B] ^ x[C], 12);
    x[A] += x[B];
    x[D] = std::rotl(x[D] ^ x[A], 8);
    x[C] += x[D];
    x[B] = std::rotl(x[B] ^ x[C], 7);
}

} // namespace

ChaCha20::ChaCha20(const Hash32& key, const Nonce& nonce, uint32_t block_counter)
    : m_state{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}
{
    for (size_t i = 0; i < 8; ++i) m_state[4 + i] = ReadLE32(key.data() + 4 * i);
    Seek(nonce, block_counter);
}

void ChaCha20::Seek(const Nonce& nonce, uint32_t block_counter)
{
    m_state[12] = block_counter;
    for (size_t i = 0; i < 3; ++i) m_state[13 + i] = ReadLE32(nonce.data() + 4 * i);
    m_used = m_block.size();
}

void ChaCha20::NextBlock()
{
    Words x = m_state;
    for (int i = 0; i < 10; ++i) {
        QuarterRound<0, 4, 8, 12>(x);
        QuarterRound<1, 5, 9, 13>(x);
        QuarterRound<2, 6, 10, 14>(x);
        QuarterRound<3, 7, 11, 15>(x);
        QuarterRound<0, 5, 10, 15>(x);
        QuarterRound<1, 6, 11, 12>(x);
        QuarterRound<2, 7, 8, 13>(x);
        QuarterRound<3, 4, 9, 14>(x);
    }
    for (size_t i = 0; i < 16; ++i) WriteLE32(m_block.data() + 4 * i, x[i] + m_state[i]);
    // A counter that runs over carries into the first word of the nonce, as Core's does.
    if (++m_state[12] == 0) ++m_state[13];
    m_used = 0;
}

void ChaCha20::Keystream(MutableByteSpan out)
{
    while (!out.empty()) {
        if (m_used == m_block.size()) NextBlock();
        const size_t take = std::min(m_block.size() - m_used, out.size());
        std::memcpy(out.data(), m_block.data() + m_used, take);
        m_used += take;
        out = out.subspan(take);
    }
}

void ChaCha20::Crypt(ByteSpan in, MutableByteSpan out)
{
    CHECK(in.size() == out.size());
    for (size_t i = 0; i < in.size(); ++i) {
        if (m_used == m_block.size()) NextBlock();
        out[i] = in[i] ^ m_block[m_used++];
    }
}

} // namespace ibd
