// See chacha20.h.
#include "crypto/chacha20.h"

#include "util/check.h"
#include "util/endian.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

/** One word of each of four blocks. */
typedef uint32_t V __attribute__((vector_size(16)));

#define IBD_ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))

template <size_t A, size_t B, size_t C, size_t D>
inline void QuarterRound(V (&x)[16])
{
    x[A] += x[B];
    x[D] = IBD_ROTL(x[D] ^ x[A], 16);
    x[C] += x[D];
    x[B] = IBD_ROTL(x[B] ^ x[C], 12);
    x[A] += x[B];
    x[D] = IBD_ROTL(x[D] ^ x[A], 8);
    x[C] += x[D];
    x[B] = IBD_ROTL(x[B] ^ x[C], 7);
}

#undef IBD_ROTL

/** Stores words 4g .. 4g+3 of each block; `out`: their place in the first block. */
inline void StoreFour(const V* x, uint8_t* out)
{
    const V a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
    const V b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const V c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    const V d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    const V blocks[4] = {
        __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
        __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
    for (size_t i = 0; i < 4; ++i) {
        if constexpr (std::endian::native == std::endian::little) {
            std::memcpy(out + 64 * i, &blocks[i], sizeof(V));
        } else {
            for (size_t j = 0; j < 4; ++j) WriteLE32(out + 64 * i + 4 * j, blocks[i][j]);
        }
    }
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
    m_used = m_buffer.size();
}

void ChaCha20::NextBlocks()
{
    V start[16];
    for (size_t i = 0; i < 16; ++i) start[i] = V{} + m_state[i];
    // A counter overflow carries into the first word of the nonce, as in Core.
    const V lane = {0, 1, 2, 3};
    start[12] += lane;
    start[13] += (V)(start[12] < lane) & 1;
    V x[16];
    std::copy(std::begin(start), std::end(start), x);
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
    for (size_t i = 0; i < 16; ++i) x[i] += start[i];
    for (size_t i = 0; i < 4; ++i) StoreFour(x + 4 * i, m_buffer.data() + 16 * i);
    m_state[12] += 4;
    if (m_state[12] < 4) ++m_state[13];
    m_used = 0;
}

void ChaCha20::Keystream(MutableByteSpan out)
{
    while (!out.empty()) {
        if (m_used == m_buffer.size()) NextBlocks();
        const size_t take = std::min(m_buffer.size() - m_used, out.size());
        std::memcpy(out.data(), m_buffer.data() + m_used, take);
        m_used += take;
        out = out.subspan(take);
    }
}

void ChaCha20::Crypt(ByteSpan in, MutableByteSpan out)
{
    CHECK(in.size() == out.size());
    for (size_t i = 0; i < in.size(); ++i) {
        if (m_used == m_buffer.size()) NextBlocks();
        out[i] = in[i] ^ m_buffer[m_used++];
    }
}

} // namespace ibd
