// ChaCha20 keystream and encryption (RFC 8439: 96-bit nonce, 32-bit block counter). Owned by one
// thread at a time; buffers 256 bytes of keystream, since four blocks are computed in parallel.
#pragma once

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
    void NextBlocks();

    std::array<uint32_t, 16> m_state;
    std::array<uint8_t, 256> m_buffer{};
    size_t m_used = 256; //!< bytes of the buffer already used
};

} // namespace ibd
