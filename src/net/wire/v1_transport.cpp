// See v1_transport.h; SendBuffer and names of transport.h.
#include "net/wire/v1_transport.h"

#include "crypto/sha256.h"
#include "net/wire/hints_messages.h"
#include "util/check.h"
#include "util/endian.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kTypeOffset = 4;
constexpr size_t kSizeOffset = kTypeOffset + kMaxMessageType;
constexpr size_t kChecksumOffset = kSizeOffset + 4;
constexpr size_t kChecksumSize = 4;

bool HasChecksum(std::string_view type) { return type != HintsDataMessage::kType; }

bool IsChecksumRead(std::string_view type) { return HasChecksum(type) && type != "block"; }

} // namespace

const char* TransportInfo::ProtocolName() const
{
    switch (protocol) {
    case Protocol::kV1: return "v1";
    case Protocol::kV2: return "v2";
    default: return "detecting";
    }
}

void SendBuffer::Push(Bytes piece)
{
    if (piece.empty()) return;
    m_memory += piece.capacity();
    m_pieces.push_back(std::move(piece));
}

void SendBuffer::PushTogether(Bytes head, Bytes body)
{
    if (body.size() <= kWorthJoining) {
        head.insert(head.end(), body.begin(), body.end());
        return Push(std::move(head));
    }
    Push(std::move(head));
    Push(std::move(body));
}

ByteSpan SendBuffer::Front() const
{
    return Empty() ? ByteSpan() : ByteSpan(m_pieces.front()).subspan(m_position);
}

void SendBuffer::Advance(size_t size)
{
    CHECK(size <= Front().size());
    m_position += size;
    if (Empty() || m_position < m_pieces.front().size()) return;
    m_memory -= m_pieces.front().capacity();
    m_pieces.pop_front();
    m_position = 0;
}

void SendBuffer::Clear() { *this = SendBuffer(); }

Result<V1Transport::Header> V1Transport::ParseHeader() const
{
    const ByteSpan bytes(m_header_bytes);
    Header header;
    const std::string_view type = AsChars(bytes.subspan(kTypeOffset, kMaxMessageType));
    header.type = type.substr(0, type.find('\0'));
    header.type_valid = std::all_of(header.type.begin(), header.type.end(),
                                    [](char c) { return c >= ' ' && c <= '~'; }) &&
                        type.find_first_not_of('\0', header.type.size()) == std::string_view::npos;
    header.size = ReadLE32(bytes.data() + kSizeOffset);
    std::copy_n(bytes.begin() + kChecksumOffset, kChecksumSize, header.checksum.begin());
    if (!std::equal(m_magic.begin(), m_magic.end(), bytes.begin())) {
        return BadData("Header error: Wrong MessageStart {} received",
                       ToHex(bytes.first(m_magic.size())));
    }
    if (header.size > kMaxPayload) {
        return BadData("Header error: Size too large ({}, {} bytes)", SafeCharacters(header.type),
                       header.size);
    }
    return header;
}

Result<> V1Transport::Receive(ByteSpan& bytes)
{
    if (!m_header) {
        const size_t take = std::min(kV1HeaderSize - m_header_size, bytes.size());
        std::copy_n(bytes.begin(), take, m_header_bytes.begin() + m_header_size);
        bytes = bytes.subspan(take);
        m_header_size += take;
        if (m_header_size < kV1HeaderSize) return {};
        IBD_ASSIGN_OR_RETURN(m_header, ParseHeader());
        m_payload.reserve(std::min<size_t>(m_header->size, kReserveAhead));
    }
    const size_t take = std::min(m_header->size - m_payload.size(), bytes.size());
    // For a peer that has sent this part of a long message, memory for all of it is reserved.
    if (m_payload.size() + take > m_payload.capacity()) m_payload.reserve(m_header->size);
    m_payload.insert(m_payload.end(), bytes.begin(),
                     bytes.begin() + static_cast<std::ptrdiff_t>(take));
    bytes = bytes.subspan(take);
    return {};
}

std::string V1Transport::ProblemOf(const Header& header) const
{
    const std::string what =
        fmt::format("({}, {} bytes)", SafeCharacters(header.type), header.size);
    if (IsChecksumRead(header.type)) {
        const Hash32 hash = Sha256d(m_payload);
        if (!std::equal(header.checksum.begin(), header.checksum.end(), hash.begin())) {
            return fmt::format("Header error: Wrong checksum {}, expected {} was {}", what,
                               ToHex(ByteSpan(hash).first(kChecksumSize)), ToHex(header.checksum));
        }
    }
    if (!header.type_valid) return fmt::format("Header error: Invalid message type {}", what);
    return {};
}

ReceivedMessage V1Transport::TakeMessage()
{
    CHECK(HasMessage());
    ReceivedMessage out;
    out.wire_size = kV1HeaderSize + m_header->size;
    out.problem = ProblemOf(*m_header);
    out.type = std::move(m_header->type);
    out.payload = std::exchange(m_payload, {});
    m_header.reset();
    m_header_size = 0;
    return out;
}

Transport::UnderWay V1Transport::Receiving() const
{
    if (!m_header) return {};
    return {m_header->size, m_header->size - m_payload.size()};
}

bool V1Transport::Send(OutgoingMessage& message)
{
    if (!m_send.Empty()) return false;
    CHECK(message.type.size() <= kMaxMessageType && message.payload.size() <= kMaxPayload);
    Bytes header(kV1HeaderSize);
    std::copy(m_magic.begin(), m_magic.end(), header.begin());
    std::copy(message.type.begin(), message.type.end(), header.begin() + kTypeOffset);
    WriteLE32(header.data() + kSizeOffset, static_cast<uint32_t>(message.payload.size()));
    if (HasChecksum(message.type)) {
        const Hash32 hash = Sha256d(message.payload);
        std::copy_n(hash.begin(), kChecksumSize, header.begin() + kChecksumOffset);
    }
    m_send.PushTogether(std::move(header), std::exchange(message.payload, {}));
    m_send_type = message.type;
    return true;
}

Transport::ToSend V1Transport::GetToSend(bool have_next) const
{
    return {m_send.Front(), have_next || m_send.HasMoreThanFront(), m_send_type};
}

} // namespace ibd
