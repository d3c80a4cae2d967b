// HKDF-SHA256 (RFC 5869) for keys of one block, as in BIP324. Values only.
#pragma once

#include "crypto/hmac.h"

namespace ibd {

class HkdfSha256 {
public:
    /** Extracts a key from a shared secret. */
    HkdfSha256(ByteSpan input_key, ByteSpan salt)
        : m_key(HmacSha256(salt).Write(input_key).Finalize())
    {
    }

    /** 32 bytes for a purpose. */
    Hash32 Expand(std::string_view purpose) const
    {
        constexpr uint8_t kFirstBlock = 1;
        return HmacSha256(m_key).Write(AsBytes(purpose)).Write({&kFirstBlock, 1}).Finalize();
    }

private:
    Hash32 m_key;
};

} // namespace ibd
