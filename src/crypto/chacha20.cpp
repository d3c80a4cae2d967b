// See chacha20.h.
#include "crypto/chacha20.h"

#include "crypto/fastest_available.h"
#include "util/check.h"
#include "util/endian.h"

#include <algorithm>
#include <cstring>

namespace ibd {

namespace chacha20 {

std::span<const Backend> Backends()
{
    static const Backend list[] = {
        Vector4Backend(),
#if defined(__x86_64__)
        Avx2Backend(),
#endif
    };
    return list;
}

const Backend& BestBackend()
{
    static const Backend& best = FastestAvailable(Backends());
    return best;
}

} // namespace chacha20

namespace {

/** out = in XOR key, for the size of `key`. */
void Xor(ByteSpan in, ByteSpan key, MutableByteSpan out)
{
    size_t at = 0;
    for (; at + 8 <= key.size(); at += 8) {
        uint64_t word, mask;
        std::memcpy(&word, in.data() + at, 8);
        std::memcpy(&mask, key.data() + at, 8);
        word ^= mask;
        std::memcpy(out.data() + at, &word, 8);
    }
    for (; at < key.size(); ++at) out[at] = in[at] ^ key[at];
}

} // namespace

ChaCha20::ChaCha20(const Hash32& key, const Nonce& nonce, uint32_t block_counter) : m_state{}
{
    std::ranges::copy(chacha20::kConstants, m_state.begin());
    for (size_t i = 0; i < 8; ++i) m_state[4 + i] = ReadLE32(key.data() + 4 * i);
    Seek(nonce, block_counter);
}

void ChaCha20::Seek(const Nonce& nonce, uint32_t block_counter)
{
    m_state[12] = block_counter;
    for (size_t i = 0; i < 3; ++i) m_state[13 + i] = ReadLE32(nonce.data() + 4 * i);
    m_used = m_end = 0;
}

ByteSpan ChaCha20::Take(size_t most)
{
    if (m_used == m_end) {
        const chacha20::Backend& backend = chacha20::BestBackend();
        backend.next(m_state, m_buffer.data());
        m_state[12] += backend.blocks;
        if (m_state[12] < backend.blocks) ++m_state[13];
        m_used = 0;
        m_end = chacha20::kBlockBytes * backend.blocks;
    }
    const size_t size = std::min(m_end - m_used, most);
    const ByteSpan taken = ByteSpan(m_buffer).subspan(m_used, size);
    m_used += size;
    return taken;
}

void ChaCha20::Keystream(MutableByteSpan out)
{
    while (!out.empty()) {
        const ByteSpan key = Take(out.size());
        std::memcpy(out.data(), key.data(), key.size()); // gcc 12 compiles copy() to a byte loop
        out = out.subspan(key.size());
    }
}

void ChaCha20::Crypt(ByteSpan in, MutableByteSpan out)
{
    CHECK(in.size() == out.size());
    while (!out.empty()) {
        const ByteSpan key = Take(out.size());
        Xor(in, key, out);
        in = in.subspan(key.size());
        out = out.subspan(key.size());
    }
}

} // namespace ibd
