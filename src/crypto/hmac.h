// HMAC (RFC 2104) over SHA-256 (RPC passwords, key derivation) and SHA-512 (BIP32). Values only.
#pragma once

#include "crypto/sha256.h"
#include "crypto/sha512.h"

namespace ibd {

/** Streaming HMAC over `Hasher`, one of Sha256 and Sha512. */
template <typename Hasher>
class Hmac {
public:
    using Digest = decltype(Hasher{}.Finalize());

    /** Key of any length. */
    explicit Hmac(ByteSpan key)
    {
        std::array<uint8_t, Hasher::kBlockSize> block{};
        if (key.size() > block.size()) {
            const Digest digest = Hasher{}.Write(key).Finalize();
            std::memcpy(block.data(), digest.data(), digest.size());
        } else if (!key.empty()) {
            std::memcpy(block.data(), key.data(), key.size());
        }
        for (uint8_t& b : block) b ^= 0x36;
        m_inner.Write(block);
        for (uint8_t& b : block) b ^= 0x36 ^ 0x5c;
        m_outer.Write(block);
    }

    Hmac& Write(ByteSpan data)
    {
        m_inner.Write(data);
        return *this;
    }

    /** Code of everything written so far; the object may be written on. */
    Digest Finalize() const
    {
        Hasher outer = m_outer;
        return outer.Write(m_inner.Finalize()).Finalize();
    }

private:
    Hasher m_inner;
    Hasher m_outer;
};

using HmacSha256 = Hmac<Sha256>;
using HmacSha512 = Hmac<Sha512>;

} // namespace ibd
