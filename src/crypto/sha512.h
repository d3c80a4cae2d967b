// SHA-512 (FIPS 180-4), streaming; needed for HMAC-SHA512 key derivation (BIP32). Values only.
#pragma once

#include "util/bytes.h"

#include <array>

namespace ibd {

using Hash64 = std::array<uint8_t, 64>;

class Sha512 {
public:
    static constexpr size_t kOutputSize = 64;
    static constexpr size_t kBlockSize = 128;

    /** Appends bytes to the message (at most 2^61 bytes in all). */
    Sha512& Write(ByteSpan data);

    /** Digest of everything written so far; the hasher is unchanged. */
    Hash64 Finalize() const;

private:
    std::array<uint64_t, 8> m_state = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                       0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                       0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    std::array<uint8_t, kBlockSize> m_buffer{};
    uint64_t m_size = 0;
};

/** SHA-512 of the bytes. */
Hash64 Sha512Of(ByteSpan data);

} // namespace ibd
