// Transport: converts a connection's bytes to messages and back, without a socket. Owned by one
// connection, used by one thread at a time. Bytes on the wire: doc/formats/p2p.md.
//
// Memory: the message being received (at most kMaxPayload, and at most kReserveAhead more than has
// arrived) and the one being sent. The caller queues messages.
#pragma once

#include "net/address/network_magic.h"
#include "net/wire/messages.h"

#include <array>
#include <deque>
#include <optional>
#include <string>

namespace ibd {

struct OutgoingMessage {
    std::string type; //!< at most kMaxMessageType characters
    Bytes payload;
};

/** Makes a message for sending. */
template <typename Message>
OutgoingMessage MakeOutgoing(const Message& message)
{
    return {std::string(Message::kType), Encode(message)};
}

struct ReceivedMessage {
    std::string type; //!< as sent; ignore unknown ones
    Bytes payload;
    size_t wire_size = 0; //!< bytes on the wire, with all framing
    /** Why the message must be dropped and only counted, in the words of Core's log; else empty.
     *  The connection stays. */
    std::string problem;
};

struct TransportInfo {
    enum class Protocol { kDetecting, kV1, kV2 };
    Protocol protocol = Protocol::kDetecting;
    std::optional<std::array<uint8_t, 32>>
        session_id; //!< v2, once the other side has proved its key
    /** "detecting", "v1", "v2". */
    const char* ProtocolName() const;
};

/** The bytes to be written, in order. */
class SendBuffer {
public:
    /** Pieces up to this size are copied into one buffer instead of being written separately. */
    static constexpr size_t kWorthJoining = 4096;

    void Push(Bytes piece);
    /** Adds two adjacent pieces. */
    void PushTogether(Bytes head, Bytes body);
    bool Empty() const { return m_pieces.empty(); }
    /** The unwritten bytes of the first piece; empty if there are none. */
    ByteSpan Front() const;
    bool HasMoreThanFront() const { return m_pieces.size() > 1; }
    /** `size` bytes of Front() are written; frees finished pieces. */
    void Advance(size_t size);
    void Clear();
    /** Bytes held. */
    size_t Memory() const { return m_memory; }

private:
    std::deque<Bytes> m_pieces; //!< none is empty
    size_t m_position = 0;      //!< in the first
    size_t m_memory = 0;
};

class Transport {
public:
    /** Bytes reserved for a message beyond the bytes that have arrived. */
    static constexpr size_t kReserveAhead = 256 * 1024;

    virtual ~Transport() = default;

    // Receiving.

    /** Takes bytes from the front of `bytes`: all, or those up to the end of a message, which must
     *  then be taken. An error ends the connection; it is in the words of Core's log, without the
     *  peer. */
    virtual Result<> Receive(ByteSpan& bytes) = 0;
    virtual bool HasMessage() const = 0;
    /** Call it only if HasMessage(). */
    virtual ReceivedMessage TakeMessage() = 0;
    struct UnderWay {
        size_t size = 0; //!< size of the payload; 0: no message is being received
        size_t left = 0; //!< bytes of it still to be received, without framing
    };
    /** The message, or a packet without one, that is partly received. */
    virtual UnderWay Receiving() const = 0;

    // Sending.

    /** Takes a message with a payload of at most kMaxPayload, and leaves it empty. False: not
     *  possible yet, as the previous one is not written or the handshake is not done. */
    virtual bool Send(OutgoingMessage& message) = 0;
    struct ToSend {
        ByteSpan bytes;        //!< valid until the next non-const call; empty: nothing to write
        bool more;             //!< more bytes follow immediately
        std::string_view type; //!< of their message; empty: none
    };
    /** `have_next`: the caller has another message to Send(). */
    virtual ToSend GetToSend(bool have_next) const = 0;
    /** `size` bytes of GetToSend().bytes are written. */
    virtual void MarkSent(size_t size) = 0;
    virtual size_t SendMemory() const = 0;

    virtual TransportInfo Info() const = 0;
    /** The peer closed the connection as a v1-only node does: reconnect with v1. */
    virtual bool ShouldReconnectV1() const { return false; }
};

inline constexpr size_t kV1HeaderSize = 24; //!< magic, type, size, checksum

} // namespace ibd
