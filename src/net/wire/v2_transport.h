// V2Transport: messages encrypted by BIP324. The initiator uses it from the first byte. The
// responder recognises v1 or v2 by the first 16 bytes and continues with that protocol. Messages
// after the handshake are authenticated before they are passed on.
#pragma once

#include "net/wire/v1_transport.h"
#include "net/wire/v2_cipher.h"
#include "util/env.h"
#include "util/secret.h"

#include <functional>

namespace ibd {

/** The random values for a handshake. */
struct V2Secrets {
    SecretArray<32> key; //!< valid as a secret key
    Hash32 entropy;      //!< for the encoding of the public key
    Bytes garbage;       //!< at most V2Transport::kMaxGarbage bytes of random length and content
};
V2Secrets RandomV2Secrets(Env& env);

class V2Transport final : public Transport {
public:
    static constexpr size_t kMaxGarbage = 4095; //!< bytes

    /** `on_start`: called when our side of the handshake is sent: at once for the initiator. */
    V2Transport(const NetworkMagic& magic, bool initiator, V2Secrets secrets,
                std::function<void()> on_start = {});
    ~V2Transport() override;

    Result<> Receive(ByteSpan& bytes) override;
    bool HasMessage() const override;
    ReceivedMessage TakeMessage() override;
    UnderWay Receiving() const override;

    bool Send(OutgoingMessage& message) override;
    ToSend GetToSend(bool have_next) const override;
    void MarkSent(size_t size) override;
    size_t SendMemory() const override;
    TransportInfo Info() const override;
    bool ShouldReconnectV1() const override;

private:
    /** The meaning of the next bytes. */
    enum class State {
        kKeyOrV1, //!< for a responder: a key, or the start of a v1 message
        kKey,     //!< the other side's public key
        kGarbage, //!< arbitrary bytes, then the terminator
        kLength,  //!< of a packet
        kPacket,  //!< its header and contents, then its tag
        kMessage, //!< no bytes are accepted before TakeMessage()
        kV1,      //!< handled by m_v1
    };

    Result<> ReceiveKeyOrV1(ByteSpan& bytes);
    Result<> ReceiveKey(ByteSpan& bytes);
    Result<> ReceiveGarbage(ByteSpan& bytes);
    Result<> ReceiveLength(ByteSpan& bytes);
    Result<> ReceivePacket(ByteSpan& bytes);
    void StartHandshake();
    void FinishHandshake();
    void FallBackToV1();
    Result<> FinishPacket();
    void DecryptHead(ByteSpan& bytes);
    void DecryptPayload(ByteSpan& bytes);
    size_t HeadSize() const;
    /** Moves bytes to the buffer until it holds `size`; returns whether it does. */
    bool Fill(ByteSpan& bytes, size_t size);

    const NetworkMagic m_magic;
    const bool m_initiator;
    const std::function<void()> m_on_start;
    V2Secrets m_secrets; //!< wiped once the cipher exists
    EllSwiftKey m_our_key;
    std::optional<V2Cipher> m_cipher;
    std::optional<V1Transport> m_v1;

    State m_state;
    Bytes m_buffer; //!< for kKeyOrV1, kKey, kGarbage and kLength, and the tag of kPacket
    Bytes m_extra;  //!< the garbage, until the first packet authenticates it
    bool m_version_received = false; //!< the first packet that is not a decoy
    // The packet being received: size of its contents; decrypted header, type and the following
    // bytes.
    size_t m_contents_size = 0;
    std::array<uint8_t, V2Cipher::kHeaderSize + 1 + kMaxMessageType> m_head{};
    size_t m_head_size = 0;
    Bytes m_payload;

    SendBuffer m_send;
    std::string m_send_type;
    size_t m_sent = 0; //!< total bytes
};

} // namespace ibd
