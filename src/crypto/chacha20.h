// ChaCha20 keystream and encryption (RFC 8439: 96-bit nonce, 32-bit block counter). Owned by one
// thread at a time; buffers 512 bytes of keystream, since up to eight blocks are computed side by
// side (chacha20_blocks.h).
#pragma once

#include "crypto/chacha20_blocks.h"
#include "crypto/sha256.h"

namespace ibd {

class ChaCha20 {
public:
    static constexpr size_t kKeySize = 32;
    static constexpr size_t kNonceSize = 12;
    using Nonce = std::array<uint8_t, kNonceSize>;

    explicit ChaCha20(const Hash32& key, const Nonce& nonce = {}, uint32_t block_counter = 0);

    /** Moves to the start of a block of the keystream under a nonce. */
    void Seek(const Nonce& nonce, uint32_t block_counter);

    /** Writes the next keystream bytes. */
    void Keystream(MutableByteSpan out);

    /** out = in XOR the next keystream bytes; of equal sizes; the two may be the same. */
    void Crypt(ByteSpan in, MutableByteSpan out);

private:
    /** The next keystream bytes, at least one and at most `most`. */
    ByteSpan Take(size_t most);

    chacha20::State m_state;
    std::array<uint8_t, chacha20::kMaxBlocks * chacha20::kBlockBytes> m_buffer;
    size_t m_used = 0; //!< bytes of the buffer already used
    size_t m_end = 0;  //!< bytes of the buffer that are keystream
};

} // namespace ibd
