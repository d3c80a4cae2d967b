// ChaCha20-Poly1305 (RFC 8439): encryption that proves who wrote it, for messages that come in
// pieces. The work is OpenSSL's libcrypto, with the vector units of the machine. Sole user of
// libcrypto. Owned by one thread at a time.
#pragma once

#include "crypto/sha256.h"

#include <memory>

struct evp_cipher_ctx_st;

namespace ibd {

class ChaCha20Poly1305 {
public:
    static constexpr size_t kTagSize = 16;
    using Nonce = std::array<uint8_t, 12>;
    using Tag = std::array<uint8_t, kTagSize>;

    explicit ChaCha20Poly1305(const Hash32& key);
    ~ChaCha20Poly1305();
    ChaCha20Poly1305(ChaCha20Poly1305&&) noexcept;
    ChaCha20Poly1305& operator=(ChaCha20Poly1305&&) noexcept;

    /** Takes another key. */
    void SetKey(const Hash32& key);

    /** Begins to encrypt a message. A nonce serves once under a key. `extra` is proved, not
     *  encrypted. */
    void StartSeal(const Nonce& nonce, ByteSpan extra);
    /** Begins to decrypt one. */
    void StartOpen(const Nonce& nonce, ByteSpan extra);
    /** Next bytes of either; sizes are equal, and the two may be the same bytes. What StartOpen()
     *  gives is not proved before FinishOpen(). */
    void Update(ByteSpan in, MutableByteSpan out);
    Tag FinishSeal();
    /** Whether this is the tag of the message and the extra bytes. */
    bool FinishOpen(const Tag& tag);

private:
    void Start(const Nonce& nonce, ByteSpan extra, bool seal);

    struct Deleter {
        void operator()(evp_cipher_ctx_st* context) const;
    };
    // One each: a context that only changes its nonce starts a message several times faster.
    std::unique_ptr<evp_cipher_ctx_st, Deleter> m_seal;
    std::unique_ptr<evp_cipher_ctx_st, Deleter> m_open;
    evp_cipher_ctx_st* m_current = nullptr;
};

} // namespace ibd
