// See v2_transport.h.
#include "net/wire/v2_transport.h"

#include "crypto/secp256k1.h"
#include "net/wire/message_table.h"
#include "util/check.h"
#include "util/endian.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

/** Start of a v1 message of type "version", after the magic. */
constexpr std::string_view kV1Version{"version\0\0\0\0\0", kMaxMessageType};
constexpr size_t kV1PrefixSize = 16;
constexpr size_t kMaxContents = 1 + kMaxMessageType + kMaxPayload;

/** The highest number of a type; a lower one without a message stands for an empty type. */
constexpr uint8_t kMaxShortId =
    std::max_element(kMessageRows.begin(), kMessageRows.end(), [](const auto& a, const auto& b) {
        return a.short_id < b.short_id;
    })->short_id;

/** 0: none, so that the full type must follow. */
uint8_t ShortNumber(std::string_view type)
{
    const MessageRow* const row = FindMessage(type);
    return row ? row->short_id : 0;
}

std::optional<std::string> ShortType(uint8_t number)
{
    if (number > kMaxShortId) return std::nullopt;
    const MessageRow* const row = FindMessage(number);
    return row ? std::string(row->type) : std::string();
}

/** The full type: printable bytes, then zeros. */
std::optional<std::string> LongType(std::string_view bytes)
{
    const std::string_view type = bytes.substr(0, bytes.find('\0'));
    for (const char c : type) {
        if (static_cast<uint8_t>(c) < ' ' || static_cast<uint8_t>(c) > 0x7f) return std::nullopt;
    }
    if (bytes.find_first_not_of('\0', type.size()) != std::string_view::npos) return std::nullopt;
    return std::string(type);
}

} // namespace

V2Secrets RandomV2Secrets(Env& env)
{
    V2Secrets out;
    do {
        env.RandomBytes(out.key);
    } while (!Signer::IsValidSecret(out.key));
    env.RandomBytes(out.entropy);
    std::array<uint8_t, 8> chance;
    env.RandomBytes(chance);
    // The bias of the modulo is below 2^-51.
    out.garbage.resize(ReadLE64(chance.data()) % (V2Transport::kMaxGarbage + 1));
    env.RandomBytes(out.garbage);
    return out;
}

V2Transport::V2Transport(const NetworkMagic& magic, bool initiator, V2Secrets secrets,
                         std::function<void()> on_start)
    : m_magic(magic), m_initiator(initiator), m_on_start(std::move(on_start)),
      m_secrets(std::move(secrets)), m_our_key(MakeEllSwiftKey(m_secrets.key, m_secrets.entropy)),
      m_state(initiator ? State::kKey : State::kKeyOrV1)
{
    CHECK(m_secrets.garbage.size() <= kMaxGarbage);
    if (initiator) StartHandshake();
}

V2Transport::~V2Transport() { ::explicit_bzero(m_secrets.key.data(), m_secrets.key.size()); }

void V2Transport::StartHandshake()
{
    if (m_on_start) m_on_start();
    Bytes first(m_our_key.begin(), m_our_key.end());
    Append(first, m_secrets.garbage);
    m_send.Push(std::move(first));
}

/** Call it with the other side's key in the buffer. */
void V2Transport::FinishHandshake()
{
    EllSwiftKey theirs;
    std::copy(m_buffer.begin(), m_buffer.end(), theirs.begin());
    m_cipher.emplace(m_magic, m_secrets.key, m_our_key, theirs, m_initiator);
    ::explicit_bzero(m_secrets.key.data(), m_secrets.key.size());
    const auto& terminator = m_cipher->SendTerminator();
    Bytes out(terminator.begin(), terminator.end());
    // The version packet is empty: no extension is supported. It authenticates the garbage.
    Bytes version(V2Cipher::kLengthSize + V2Cipher::kHeaderSize);
    const auto tag = m_cipher->Encrypt(version, {}, m_secrets.garbage);
    Append(out, version);
    Append(out, tag);
    m_send.Push(std::move(out));
    m_secrets.garbage = Bytes();
}

void V2Transport::FallBackToV1()
{
    m_v1.emplace(m_magic);
    ByteSpan again(m_buffer);
    CHECK(m_v1->Receive(again).Ok() && again.empty()); // shorter than a header
    m_buffer = Bytes();
    m_secrets.garbage = Bytes();
    m_state = State::kV1;
}

bool V2Transport::Fill(ByteSpan& bytes, size_t size)
{
    const size_t take = std::min(size - m_buffer.size(), bytes.size());
    Append(m_buffer, bytes.first(take));
    bytes = bytes.subspan(take);
    return m_buffer.size() == size;
}

Result<> V2Transport::Receive(ByteSpan& bytes)
{
    while (!bytes.empty()) {
        switch (m_state) {
        case State::kKeyOrV1: IBD_RETURN_IF_ERROR(ReceiveKeyOrV1(bytes)); break;
        case State::kKey: IBD_RETURN_IF_ERROR(ReceiveKey(bytes)); break;
        case State::kGarbage: IBD_RETURN_IF_ERROR(ReceiveGarbage(bytes)); break;
        case State::kLength: IBD_RETURN_IF_ERROR(ReceiveLength(bytes)); break;
        case State::kPacket: IBD_RETURN_IF_ERROR(ReceivePacket(bytes)); break;
        case State::kMessage: return {};
        case State::kV1: return m_v1->Receive(bytes);
        }
    }
    return {};
}

Result<> V2Transport::ReceiveKeyOrV1(ByteSpan& bytes)
{
    const bool full = Fill(bytes, kV1PrefixSize);
    Bytes v1_prefix(m_magic.begin(), m_magic.end());
    Append(v1_prefix, AsBytes(kV1Version));
    if (!std::equal(m_buffer.begin(), m_buffer.end(), v1_prefix.begin())) {
        m_state = State::kKey; // all bytes of the key are kept
        StartHandshake();
        return ReceiveKey(bytes);
    }
    if (full) FallBackToV1();
    return {};
}

Result<> V2Transport::ReceiveKey(ByteSpan& bytes)
{
    const bool full = Fill(bytes, m_our_key.size());
    // A v1 initiator from another network would wait forever.
    if (!m_initiator && m_buffer.size() >= kV1PrefixSize &&
        AsChars(m_buffer).substr(m_magic.size(), kV1Version.size()) == kV1Version) {
        return BadData("V2 transport error: V1 peer with wrong MessageStart {}",
                       ToHex(ByteSpan(m_buffer).first(m_magic.size())));
    }
    if (!full) return {};
    FinishHandshake();
    m_buffer.clear();
    m_state = State::kGarbage;
    return {};
}

Result<> V2Transport::ReceiveGarbage(ByteSpan& bytes)
{
    const auto& terminator = m_cipher->ReceiveTerminator();
    while (!bytes.empty()) {
        Fill(bytes, m_buffer.size() + 1);
        if (m_buffer.size() < terminator.size()) continue;
        if (std::equal(terminator.rbegin(), terminator.rend(), m_buffer.rbegin())) {
            m_buffer.resize(m_buffer.size() - terminator.size());
            m_extra = std::exchange(m_buffer, {});
            m_state = State::kLength;
            return {};
        }
        if (m_buffer.size() == kMaxGarbage + terminator.size()) {
            return BadData("V2 transport error: missing garbage terminator");
        }
    }
    return {};
}

Result<> V2Transport::ReceiveLength(ByteSpan& bytes)
{
    if (!Fill(bytes, V2Cipher::kLengthSize)) return {};
    std::array<uint8_t, V2Cipher::kLengthSize> length;
    std::copy(m_buffer.begin(), m_buffer.end(), length.begin());
    m_buffer.clear();
    m_contents_size = m_cipher->DecryptLength(length);
    if (m_contents_size > kMaxContents) {
        return BadData("V2 transport error: packet too large ({} bytes)", m_contents_size);
    }
    m_head_size = 0;
    m_payload = Bytes();
    m_cipher->StartDecrypt(m_extra);
    m_state = State::kPacket;
    return {};
}

/** Bytes of m_head in this packet: header, number of the type, and the full type if present. */
size_t V2Transport::HeadSize() const
{
    constexpr size_t kShort = V2Cipher::kHeaderSize + 1;
    const bool in_full = m_head_size >= kShort && m_head[V2Cipher::kHeaderSize] == 0;
    return std::min(V2Cipher::kHeaderSize + m_contents_size, in_full ? m_head.size() : kShort);
}

void V2Transport::DecryptHead(ByteSpan& bytes)
{
    while (m_head_size < HeadSize() && !bytes.empty()) {
        const size_t take = std::min(HeadSize() - m_head_size, bytes.size());
        m_cipher->Decrypt(bytes.first(take), MutableByteSpan(m_head).subspan(m_head_size, take));
        m_head_size += take;
        bytes = bytes.subspan(take);
    }
}

void V2Transport::DecryptPayload(ByteSpan& bytes)
{
    const size_t whole = V2Cipher::kHeaderSize + m_contents_size - HeadSize();
    const size_t had = m_payload.size();
    const size_t take = std::min(whole - had, bytes.size());
    if (had == 0) m_payload.reserve(std::min(whole, kReserveAhead));
    if (had + take > m_payload.capacity()) m_payload.reserve(whole);
    m_payload.resize(had + take);
    m_cipher->Decrypt(bytes.first(take), MutableByteSpan(m_payload).subspan(had));
    bytes = bytes.subspan(take);
}

Result<> V2Transport::ReceivePacket(ByteSpan& bytes)
{
    // Decrypted as it arrives, directly to its destination; authenticated at the tag.
    DecryptHead(bytes);
    if (m_head_size < HeadSize()) return {};
    DecryptPayload(bytes);
    if (m_head_size + m_payload.size() < V2Cipher::kHeaderSize + m_contents_size) return {};
    if (!Fill(bytes, V2Cipher::kTagSize)) return {};
    return FinishPacket();
}

Result<> V2Transport::FinishPacket()
{
    ChaCha20Poly1305::Tag tag;
    std::copy(m_buffer.begin(), m_buffer.end(), tag.begin());
    m_buffer.clear();
    if (!m_cipher->FinishDecrypt(tag)) {
        return BadData("V2 transport error: packet decryption failure ({} bytes)", m_contents_size);
    }
    m_extra = Bytes();
    m_state = State::kLength;
    if (m_head[0] & V2Cipher::kDecoyBit) return {};
    if (m_version_received) m_state = State::kMessage;
    m_version_received = true; // contents of the version packet are reserved for extensions
    return {};
}

bool V2Transport::HasMessage() const
{
    return m_v1 ? m_v1->HasMessage() : m_state == State::kMessage;
}

ReceivedMessage V2Transport::TakeMessage()
{
    if (m_v1) return m_v1->TakeMessage();
    CHECK(HasMessage());
    m_state = State::kLength;
    ReceivedMessage out;
    out.wire_size = m_contents_size + V2Cipher::kExpansion;
    std::optional<std::string> type;
    const ByteSpan head = ByteSpan(m_head).first(m_head_size).subspan(V2Cipher::kHeaderSize);
    if (!head.empty() && head[0] != 0) {
        type = ShortType(head[0]);
    } else if (head.size() == 1 + kMaxMessageType) {
        type = LongType(AsChars(head.subspan(1)));
    }
    if (!type) {
        out.problem = fmt::format("V2 transport error: invalid message type ({} bytes contents)",
                                  m_contents_size);
    } else {
        out.type = std::move(*type);
        out.payload = std::exchange(m_payload, {});
    }
    m_payload = Bytes();
    return out;
}

Transport::UnderWay V2Transport::Receiving() const
{
    if (m_v1) return m_v1->Receiving();
    if (m_state != State::kPacket) return {};
    return {m_contents_size, m_contents_size - std::min(m_contents_size, m_payload.size())};
}

bool V2Transport::Send(OutgoingMessage& message)
{
    if (m_v1) return m_v1->Send(message);
    if (!m_cipher || !m_send.Empty()) return false;
    CHECK(message.type.size() <= kMaxMessageType && message.payload.size() <= kMaxPayload);
    constexpr size_t kNumber = V2Cipher::kLengthSize + V2Cipher::kHeaderSize;
    const uint8_t number = ShortNumber(message.type);
    Bytes head(kNumber + 1 + (number == 0 ? kMaxMessageType : 0));
    head[kNumber] = number;
    if (number == 0)
        std::copy(message.type.begin(), message.type.end(), head.begin() + kNumber + 1);
    const auto tag = m_cipher->Encrypt(head, message.payload, {});
    if (message.payload.size() <= SendBuffer::kWorthJoining) {
        message.payload.insert(message.payload.end(), tag.begin(), tag.end());
        m_send.PushTogether(std::move(head), std::exchange(message.payload, {}));
    } else {
        m_send.Push(std::move(head));
        m_send.Push(std::exchange(message.payload, {}));
        m_send.Push(Bytes(tag.begin(), tag.end()));
    }
    m_send_type = message.type;
    return true;
}

Transport::ToSend V2Transport::GetToSend(bool have_next) const
{
    if (m_v1) return m_v1->GetToSend(have_next);
    return {m_send.Front(), m_send.HasMoreThanFront() || (have_next && m_cipher), m_send_type};
}

void V2Transport::MarkSent(size_t size)
{
    if (m_v1) return m_v1->MarkSent(size);
    m_send.Advance(size);
    m_sent += size;
}

size_t V2Transport::SendMemory() const { return m_v1 ? m_v1->SendMemory() : m_send.Memory(); }

TransportInfo V2Transport::Info() const
{
    if (m_v1) return m_v1->Info();
    // Before its version packet the other side is not authenticated.
    if (!m_version_received) return {};
    return {TransportInfo::Protocol::kV2, m_cipher->SessionId()};
}

bool V2Transport::ShouldReconnectV1() const
{
    // No byte was received, and the sent bytes look like a wrong header to a v1 peer.
    return m_initiator && m_state == State::kKey && m_buffer.empty() && m_sent >= kV1HeaderSize;
}

} // namespace ibd
