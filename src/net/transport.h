// Transport: turns a connection's bytes into messages and back, without a socket. Owned by one
// connection, used by one thread at a time. Bytes on the wire: doc/formats/p2p.md.
//
// Memory: the message that is being received (at most kMaxPayload, and no more than kReserveAhead
// beyond what has arrived) and the one that is being sent. Who queues messages is the caller.
#pragma once

#include "net/messages.h"

#include <array>
#include <deque>
#include <optional>
#include <string>

namespace ibd {

/** First bytes of a network's messages (ChainParams::magic). */
using NetworkMagic = std::array<uint8_t, 4>;

struct OutgoingMessage {
    std::string type; //!< at most kMaxMessageType characters
    Bytes payload;
};

/** A message as it is sent. */
template <typename Message>
OutgoingMessage MakeOutgoing(const Message& message)
{
    return {std::string(Message::kType), Encode(message)};
}

struct ReceivedMessage {
    std::string type; //!< as sent; unknown ones are to be ignored
    Bytes payload;
    size_t wire_size = 0; //!< bytes it took, with all that was around it
    /** Why the message is to be dropped and only counted, in the words of Core's log; else empty.
     *  The connection goes on. */
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

/** What waits to be written, in order. */
class SendBuffer {
public:
    /** So long a piece is copied rather than written by a call of its own. */
    static constexpr size_t kWorthJoining = 4096;

    void Push(Bytes piece);
    /** Two that follow each other. */
    void PushTogether(Bytes head, Bytes body);
    bool Empty() const { return m_pieces.empty(); }
    /** The bytes of the first piece that are left; nothing when empty. */
    ByteSpan Front() const;
    bool HasMoreThanFront() const { return m_pieces.size() > 1; }
    /** That many of Front() are written; frees what is done with. */
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
    /** Bytes set aside for a message beyond those that have come. */
    static constexpr size_t kReserveAhead = 256 * 1024;

    virtual ~Transport() = default;

    // Receiving.

    /** Takes bytes from the front of `bytes`: all of them, or those up to the end of a message,
     *  which must then be taken. An error ends the connection; it is in the words of Core's log,
     *  without the peer. */
    virtual Result<> Receive(ByteSpan& bytes) = 0;
    virtual bool HasMessage() const = 0;
    /** Only when there is one. */
    virtual ReceivedMessage TakeMessage() = 0;

    // Sending.

    /** Takes a message whose payload is at most kMaxPayload, and leaves it empty; false while it
     *  cannot, because the one before is not written yet or the handshake is not done. */
    virtual bool Send(OutgoingMessage& message) = 0;
    struct ToSend {
        ByteSpan bytes;        //!< until the next call that is not const; nothing to write if empty
        bool more;             //!< bytes will follow these at once
        std::string_view type; //!< of the message they belong to; empty: to none
    };
    /** `have_next`: the caller has a message to Send() when it can. */
    virtual ToSend GetToSend(bool have_next) const = 0;
    /** That many of GetToSend().bytes are written. */
    virtual void MarkSent(size_t size) = 0;
    virtual size_t SendMemory() const = 0;

    virtual TransportInfo Info() const = 0;
    /** The peer hung up as one does who speaks v1 only: connect again and speak that. */
    virtual bool ShouldReconnectV1() const { return false; }
};

inline constexpr size_t kV1HeaderSize = 24; //!< magic, type, size, checksum

} // namespace ibd
