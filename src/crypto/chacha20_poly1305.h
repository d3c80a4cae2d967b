// ChaCha20-Poly1305 (RFC 8439): authenticated encryption of messages in pieces, by OpenSSL's
// libcrypto, which uses the machine's vector units. The only user of libcrypto. Owned by one thread
// at a time.
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

    /** Changes the key. */
    void SetKey(const Hash32& key);

    /** Starts the encryption of a message. Use a nonce only once with a key. `extra`:
     *  authenticated, not encrypted. */
    void StartSeal(const Nonce& nonce, ByteSpan extra);
    /** Starts the decryption of a message. */
    void StartOpen(const Nonce& nonce, ByteSpan extra);
    /** Processes the next bytes; of equal sizes; the two may be the same bytes. Decrypted bytes are
     *  authentic only after FinishOpen() returned true. */
    void Update(ByteSpan in, MutableByteSpan out);
    Tag FinishSeal();
    /** Whether `tag` is that of the message and the extra bytes. */
    bool FinishOpen(const Tag& tag);

private:
    void Start(const Nonce& nonce, ByteSpan extra, bool seal);

    struct Deleter {
        void operator()(evp_cipher_ctx_st* context) const;
    };
    // One for each direction: changing only the nonce of a context is several times faster.
    std::unique_ptr<evp_cipher_ctx_st, Deleter> m_seal;
    std::unique_ptr<evp_cipher_ctx_st, Deleter> m_open;
    evp_cipher_ctx_st* m_current = nullptr;
};

} // namespace ibd
