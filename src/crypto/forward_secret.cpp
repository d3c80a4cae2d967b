// See forward_secret.h.
#include "crypto/forward_secret.h"

#include "util/endian.h"

namespace ibd {

namespace {

constexpr uint32_t kKeyNonce = 0xffffffff; //!< in place of the packet's number

std::array<uint8_t, 12> MakeNonce(uint32_t first, uint64_t rest)
{
    std::array<uint8_t, 12> out;
    WriteLE32(out.data(), first);
    WriteLE64(out.data() + 4, rest);
    return out;
}

} // namespace

void FsChaCha20::Crypt(ByteSpan in, MutableByteSpan out)
{
    m_cipher.Crypt(in, out);
    if (++m_chunks != kRekeyInterval) return;
    Hash32 key;
    m_cipher.Keystream(key);
    m_cipher = ChaCha20(key, MakeNonce(0, ++m_rekeys));
    ::explicit_bzero(key.data(), key.size());
    m_chunks = 0;
}

ChaCha20Poly1305::Nonce FsChaCha20Poly1305::NonceOf(uint32_t packet) const
{
    return MakeNonce(packet, m_rekeys);
}

void FsChaCha20Poly1305::NextPacket()
{
    if (++m_packets != kRekeyInterval) return;
    Hash32 key{}; // encrypting zeros gives the keystream
    m_cipher.StartSeal(NonceOf(kKeyNonce), {});
    m_cipher.Update(key, key);
    m_cipher.FinishSeal();
    m_cipher.SetKey(key);
    ::explicit_bzero(key.data(), key.size());
    m_packets = 0;
    ++m_rekeys;
}

ChaCha20Poly1305::Tag FsChaCha20Poly1305::FinishSeal()
{
    const auto tag = m_cipher.FinishSeal();
    NextPacket();
    return tag;
}

bool FsChaCha20Poly1305::FinishOpen(const ChaCha20Poly1305::Tag& tag)
{
    const bool right = m_cipher.FinishOpen(tag);
    NextPacket();
    return right;
}

} // namespace ibd
