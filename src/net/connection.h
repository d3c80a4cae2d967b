// Connection: one socket to a peer and the transport over it. Owned by Connections, its thread
// only; what the thread of the peers needs of it is in its Channel.
//
// Memory: the transport's (transport.h) and one message that the transport does not take yet.
#pragma once

#include "net/channel.h"

#include <memory>

struct event;
struct event_base;

namespace ibd {

class Connection;

/** What a connection tells and asks; on its thread. Implemented by Connections. */
class ConnectionOwner {
public:
    virtual ~ConnectionOwner() = default;
    virtual void OnMessages(Connection& connection, std::vector<ReceivedMessage> messages) = 0;
    /** It is closed, and destroyed by its owner later than this call. */
    virtual void OnClosed(Connection& connection) = 0;
    /** Seconds since 1970. */
    virtual int64_t Now() = 0;
    /** To receive into, of whichever connection is at work. */
    virtual MutableByteSpan Buffer() = 0;
    /** Who was told to wait until more can be sent need not any more. */
    virtual void OnRelief(Connection& connection) = 0;
    virtual void CountTraffic(size_t sent, size_t received) = 0;
    /** "peer=3", with the address if it may be logged. */
    virtual std::string NameOf(const Connection& connection) const = 0;
    virtual Logger& Log() = 0;
};

class Connection {
public:
    /** Takes the socket; reads from now on, and writes after the first Flush(). */
    Connection(ConnectionOwner& owner, event_base* base, int fd, NewPeer peer,
               std::shared_ptr<Channel> channel, std::unique_ptr<Transport> transport);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    const NewPeer& Peer() const { return m_peer; }
    /** There is something in the channel. */
    void Flush();
    void ResumeReading();
    /** After what the system takes at once of what is queued. */
    void Close();
    bool IsClosed() const { return m_fd < 0; }
    /** The peer hung up as one does who speaks v1 only. */
    bool ShouldReconnectV1() const { return m_transport->ShouldReconnectV1(); }

private:
    struct Free {
        void operator()(event* e) const;
    };
    static void OnReadable(int, short, void* self);
    static void OnWritable(int, short, void* self);
    void Receive();
    void TakeBytes(ByteSpan bytes);
    /** Bytes that the system took. */
    size_t Send();
    bool LoadNext();
    void SetBlocked(bool blocked);
    void Shut();
    void ReadFailed(int error);

    ConnectionOwner& m_owner;
    const NewPeer m_peer;
    const std::shared_ptr<Channel> m_channel;
    const std::unique_ptr<Transport> m_transport;
    std::optional<OutgoingMessage> m_next; //!< taken from the channel, and not by the transport
    int m_fd;
    bool m_blocked = false; //!< the system takes no more for now
    std::unique_ptr<event, Free> m_read;
    std::unique_ptr<event, Free> m_write;
};

/** "Connection refused (111)": a system error as Core's log has it. */
std::string SystemErrorText(int error);

} // namespace ibd
