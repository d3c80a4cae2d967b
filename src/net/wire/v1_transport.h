// V1Transport: unencrypted messages, each with the network's magic, its type, size and a checksum.
// The checksum of a `block` is written but not verified: merkle root and witness commitment cover
// the same bytes, and verifying costs a hash over all of them. The checksum of a `hintsdata`, which
// is exchanged only between nodes of this program, is not even written: the file's own checksums
// cover its bytes.
#pragma once

#include "net/wire/transport.h"

namespace ibd {

class V1Transport final : public Transport {
public:
    explicit V1Transport(const NetworkMagic& magic) : m_magic(magic) {}

    Result<> Receive(ByteSpan& bytes) override;
    bool HasMessage() const override { return m_header && m_payload.size() == m_header->size; }
    ReceivedMessage TakeMessage() override;
    UnderWay Receiving() const override;

    bool Send(OutgoingMessage& message) override;
    ToSend GetToSend(bool have_next) const override;
    void MarkSent(size_t size) override { m_send.Advance(size); }
    size_t SendMemory() const override { return m_send.Memory(); }
    TransportInfo Info() const override { return {TransportInfo::Protocol::kV1, std::nullopt}; }

private:
    struct Header {
        std::string type;
        bool type_valid = false; //!< printable, then zeros
        uint32_t size = 0;
        std::array<uint8_t, 4> checksum{};
    };
    Result<Header> ParseHeader() const;
    std::string ProblemOf(const Header& header) const;

    const NetworkMagic m_magic;
    std::array<uint8_t, kV1HeaderSize> m_header_bytes{};
    size_t m_header_size = 0; //!< received bytes of the header
    std::optional<Header> m_header;
    Bytes m_payload;
    SendBuffer m_send;
    std::string m_send_type;
};

} // namespace ibd
