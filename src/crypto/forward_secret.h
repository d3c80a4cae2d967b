// FSChaCha20 and FSChaCha20Poly1305 (BIP324): ciphers that replace their key every 224 uses, so
// that a key leaked later does not decrypt earlier data. Both sides of a connection must use them
// in step. Owned by one thread at a time.
#pragma once

#include "crypto/chacha20.h"
#include "crypto/chacha20_poly1305.h"

namespace ibd {

inline constexpr uint32_t kRekeyInterval = 224; //!< uses of a key (BIP324)

/** For the lengths of packets; not authenticated. */
class FsChaCha20 {
public:
    explicit FsChaCha20(const Hash32& key) : m_cipher(key) {}

    /** Encrypts or decrypts one chunk; of equal sizes; the two may be the same bytes. */
    void Crypt(ByteSpan in, MutableByteSpan out);

private:
    ChaCha20 m_cipher;
    uint32_t m_chunks = 0; //!< with this key
    uint64_t m_rekeys = 0;
};

/** For packets. Start, any number of Update(), Finish: see ChaCha20Poly1305. */
class FsChaCha20Poly1305 {
public:
    explicit FsChaCha20Poly1305(const Hash32& key) : m_cipher(key) {}

    void StartSeal(ByteSpan extra) { m_cipher.StartSeal(NonceOf(m_packets), extra); }
    void StartOpen(ByteSpan extra) { m_cipher.StartOpen(NonceOf(m_packets), extra); }
    void Update(ByteSpan in, MutableByteSpan out) { m_cipher.Update(in, out); }
    ChaCha20Poly1305::Tag FinishSeal();
    bool FinishOpen(const ChaCha20Poly1305::Tag& tag);

private:
    ChaCha20Poly1305::Nonce NonceOf(uint32_t packet) const;
    void NextPacket();

    ChaCha20Poly1305 m_cipher;
    uint32_t m_packets = 0; //!< with this key
    uint64_t m_rekeys = 0;
};

} // namespace ibd
