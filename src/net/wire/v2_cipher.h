// V2Cipher: the keys that two peers derive, and the packets encrypted with them (BIP324). Owned by
// one V2Transport. The caller must wipe its own copy of the secret key.
#pragma once

#include "crypto/ellswift.h"
#include "crypto/forward_secret.h"

#include <optional>

namespace ibd {

class V2Cipher {
public:
    static constexpr size_t kLengthSize = 3;
    static constexpr size_t kHeaderSize = 1;
    static constexpr uint8_t kDecoyBit = 0x80; //!< of the header: the packet must be ignored
    static constexpr size_t kTagSize = ChaCha20Poly1305::kTagSize;
    /** Bytes of a packet besides its contents. */
    static constexpr size_t kExpansion = kLengthSize + kHeaderSize + kTagSize;
    using GarbageTerminator = std::array<uint8_t, 16>;

    V2Cipher(const std::array<uint8_t, 4>& magic, const Hash32& our_secret, const EllSwiftKey& ours,
             const EllSwiftKey& theirs, bool initiator);

    const Hash32& SessionId() const { return m_session_id; }
    const GarbageTerminator& SendTerminator() const { return m_send_terminator; }
    const GarbageTerminator& ReceiveTerminator() const { return m_receive_terminator; }

    /** Encrypts a packet with the contents `first` and `rest` in place: `rest` becomes the bytes
     *  sent after `head` and before the returned tag. `head` has room for length and header
     *  (kLengthSize + kHeaderSize), followed by `first`. Contents are below 2^24 bytes. */
    ChaCha20Poly1305::Tag Encrypt(MutableByteSpan head, MutableByteSpan rest, ByteSpan extra,
                                  bool decoy = false);

    /** Size of the next packet's contents. */
    uint32_t DecryptLength(const std::array<uint8_t, kLengthSize>& bytes);
    /** Decrypt its header and contents in any pieces, then check its tag. Data is authentic only
     *  afterwards. */
    void StartDecrypt(ByteSpan extra) { m_receive->StartOpen(extra); }
    void Decrypt(ByteSpan in, MutableByteSpan out) { m_receive->Update(in, out); }
    bool FinishDecrypt(const ChaCha20Poly1305::Tag& tag) { return m_receive->FinishOpen(tag); }

private:
    std::optional<FsChaCha20> m_send_length, m_receive_length;
    std::optional<FsChaCha20Poly1305> m_send, m_receive;
    Hash32 m_session_id;
    GarbageTerminator m_send_terminator;
    GarbageTerminator m_receive_terminator;
};

} // namespace ibd
