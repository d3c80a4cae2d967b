// See sha256.h.
#include "crypto/sha256.h"

#include "crypto/sha256_backends.h"
#include "crypto/sha256_internal.h"
#include "util/check.h"

#include <algorithm>

namespace ibd {

Sha256& Sha256::Write(ByteSpan data)
{
    if (data.empty()) return *this;
    const auto transform = Sha256StreamBackend().transform;
    const size_t held = m_size % kBlockSize;
    m_size += data.size();
    if (held != 0) {
        const size_t take = std::min(kBlockSize - held, data.size());
        std::memcpy(m_buffer.data() + held, data.data(), take);
        data = data.subspan(take);
        if (held + take < kBlockSize) return *this;
        transform(m_state, m_buffer.data(), 1);
    }
    const size_t blocks = data.size() / kBlockSize;
    if (blocks != 0) transform(m_state, data.data(), blocks);
    data = data.subspan(blocks * kBlockSize);
    if (!data.empty()) std::memcpy(m_buffer.data(), data.data(), data.size());
    return *this;
}

Hash32 Sha256::Finalize() const
{
    // Message, 0x80, zeros up to 8 bytes below a block's end, length in bits.
    std::array<uint8_t, 2 * kBlockSize> tail{};
    const size_t held = m_size % kBlockSize;
    std::memcpy(tail.data(), m_buffer.data(), held);
    tail[held] = 0x80;
    const size_t blocks = held + 9 <= kBlockSize ? 1 : 2;
    WriteBE64(tail.data() + blocks * kBlockSize - 8, m_size * 8);
    Sha256State state = m_state;
    Sha256StreamBackend().transform(state, tail.data(), blocks);
    Hash32 out;
    sha256::StateToBytes(state, out.data());
    return out;
}

Sha256& Sha256::Reset()
{
    m_state = kSha256Initial;
    m_size = 0;
    return *this;
}

const Sha256State& Sha256::State() const
{
    CHECK(m_size % kBlockSize == 0);
    return m_state;
}

Hash32 Sha256Of(ByteSpan data) { return Sha256{}.Write(data).Finalize(); }

Hash32 Sha256d(ByteSpan data) { return Sha256Of(Sha256Of(data)); }

Sha256 TaggedHash(std::string_view tag)
{
    const Hash32 tag_hash = Sha256Of(AsBytes(tag));
    return Sha256{}.Write(tag_hash).Write(tag_hash);
}

} // namespace ibd
