// V2Cipher: what two peers derive from their keys, and the packets that they encrypt with it
// (BIP324). Owned by one V2Transport. The keys it is made from are the caller's to wipe.
#pragma once

#include "crypto/ellswift.h"
#include "crypto/forward_secret.h"

#include <optional>

namespace ibd {

class V2Cipher {
public:
    static constexpr size_t kLengthSize = 3;
    static constexpr size_t kHeaderSize = 1;
    static constexpr uint8_t kDecoyBit = 0x80; //!< of the header: the packet is to be ignored
    static constexpr size_t kTagSize = ChaCha20Poly1305::kTagSize;
    /** A packet's bytes beyond its contents. */
    static constexpr size_t kExpansion = kLengthSize + kHeaderSize + kTagSize;
    using GarbageTerminator = std::array<uint8_t, 16>;

    V2Cipher(const std::array<uint8_t, 4>& magic, const Hash32& our_secret, const EllSwiftKey& ours,
             const EllSwiftKey& theirs, bool initiator);

    const Hash32& SessionId() const { return m_session_id; }
    const GarbageTerminator& SendTerminator() const { return m_send_terminator; }
    const GarbageTerminator& ReceiveTerminator() const { return m_receive_terminator; }

    /** Encrypts a packet, whose contents are `first` and then `rest`, in place: `rest` becomes what
     *  is sent after `head` and before the tag that is returned. `head` has room for the length and
     *  header (kLengthSize + kHeaderSize) before `first`, which it holds behind them. Contents are
     *  below 2^24 bytes. */
    ChaCha20Poly1305::Tag Encrypt(MutableByteSpan head, MutableByteSpan rest, ByteSpan extra,
                                  bool decoy = false);

    /** Contents' size of the next packet. */
    uint32_t DecryptLength(const std::array<uint8_t, kLengthSize>& bytes);
    /** Then its header and contents in any pieces, and its tag. Nothing is proved before that. */
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
