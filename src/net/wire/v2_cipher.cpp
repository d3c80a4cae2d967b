// See v2_cipher.h.
#include "net/wire/v2_cipher.h"

#include "crypto/hkdf.h"
#include "util/check.h"

#include <algorithm>

namespace ibd {

V2Cipher::V2Cipher(const std::array<uint8_t, 4>& magic, const Hash32& our_secret,
                   const EllSwiftKey& ours, const EllSwiftKey& theirs, bool initiator)
{
    Bytes salt;
    Append(salt, AsBytes("bitcoin_v2_shared_secret"));
    Append(salt, magic);
    Hash32 shared = EllSwiftSharedSecret(our_secret, ours, theirs, initiator);
    const HkdfSha256 keys(shared, salt);
    ::explicit_bzero(shared.data(), shared.size());

    (initiator ? m_send_length : m_receive_length).emplace(keys.Expand("initiator_L"));
    (initiator ? m_send : m_receive).emplace(keys.Expand("initiator_P"));
    (initiator ? m_receive_length : m_send_length).emplace(keys.Expand("responder_L"));
    (initiator ? m_receive : m_send).emplace(keys.Expand("responder_P"));
    const Hash32 terminators = keys.Expand("garbage_terminators");
    auto& of_initiator = initiator ? m_send_terminator : m_receive_terminator;
    auto& of_responder = initiator ? m_receive_terminator : m_send_terminator;
    std::copy_n(terminators.begin(), of_initiator.size(), of_initiator.begin());
    std::copy_n(terminators.begin() + of_initiator.size(), of_responder.size(),
                of_responder.begin());
    m_session_id = keys.Expand("session_id");
}

ChaCha20Poly1305::Tag V2Cipher::Encrypt(MutableByteSpan head, MutableByteSpan rest, ByteSpan extra,
                                        bool decoy)
{
    constexpr size_t kMaxContents = (size_t{1} << 24) - 1;
    CHECK(head.size() >= kLengthSize + kHeaderSize);
    const size_t size = head.size() - kLengthSize - kHeaderSize + rest.size();
    CHECK(size <= kMaxContents);
    for (size_t i = 0; i < kLengthSize; ++i) head[i] = static_cast<uint8_t>(size >> 8 * i);
    m_send_length->Crypt(head.first(kLengthSize), head.first(kLengthSize));
    head[kLengthSize] = decoy ? kDecoyBit : 0;
    const MutableByteSpan sealed = head.subspan(kLengthSize);
    m_send->StartSeal(extra);
    m_send->Update(sealed, sealed);
    m_send->Update(rest, rest);
    return m_send->FinishSeal();
}

uint32_t V2Cipher::DecryptLength(const std::array<uint8_t, kLengthSize>& bytes)
{
    std::array<uint8_t, kLengthSize> plain;
    m_receive_length->Crypt(bytes, plain);
    return plain[0] | uint32_t{plain[1]} << 8 | uint32_t{plain[2]} << 16;
}

} // namespace ibd
