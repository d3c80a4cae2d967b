// Connection: one socket to a peer with its transport. Owned by Connections, on its thread; the
// thread of the peers uses its Channel.
//
// Memory: the transport's (transport.h) and one message that the transport has not accepted yet.
// Input from strangers is bounded by an InputRoom.
#pragma once

#include "net/socket/channel.h"

#include <memory>

struct event;
struct event_base;

namespace ibd {

class Connection;

/** The owner's side of a connection; on its thread. Implemented by Connections. */
class ConnectionOwner {
public:
    virtual ~ConnectionOwner() = default;
    virtual void OnMessages(Connection& connection, std::vector<ReceivedMessage> messages) = 0;
    /** It is closed; the owner destroys it after this call. */
    virtual void OnClosed(Connection& connection) = 0;
    /** Seconds since 1970. */
    virtual int64_t Now() = 0;
    /** Shared buffer for receiving, for one connection at a time. */
    virtual MutableByteSpan Buffer() = 0;
    /** Called when a pause of sending has ended. */
    virtual void OnRelief(Connection& connection) = 0;
    virtual void CountTraffic(size_t sent, size_t received) = 0;
    /** "peer=3", with the address if logging allows it. */
    virtual std::string NameOf(const Connection& connection) const = 0;
    virtual Logger& Log() = 0;
};

class Connection final : private RoomUser {
public:
    static constexpr int kRoomCheckMicros = 50'000; //!< while it waits for room

    /** Takes the socket; reads from now on, and writes after the first Flush(). `strangers`: the
     *  room for the messages of an inbound peer; null for an outbound peer. */
    Connection(ConnectionOwner& owner, event_base* base, int fd, NewPeer peer,
               std::shared_ptr<Channel> channel, std::unique_ptr<Transport> transport,
               InputRoom* strangers);
    ~Connection() override;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    const NewPeer& Peer() const { return m_peer; }
    /** Sends the messages in the channel. */
    void Flush();
    void ResumeReading();
    /** Closes after writing the queued bytes that the system accepts at once. */
    void Close();
    bool IsClosed() const { return m_fd < 0; }
    /** Whether the peer closed the connection as a v1-only node does. */
    bool ShouldReconnectV1() const { return m_transport->ShouldReconnectV1(); }

private:
    struct Free {
        void operator()(event* e) const;
    };
    static void OnReadable(int, short, void* self);
    static void OnWritable(int, short, void* self);
    static void OnRoomTimer(int, short, void* self);
    void EndIfSlow(int64_t now) override;
    void Receive();
    size_t MayReceive();
    void WaitForRoom();
    void TakeBytes(ByteSpan bytes);
    /** Returns the bytes that the system accepted. */
    size_t Send();
    bool LoadNext();
    void SetBlocked(bool blocked);
    void Shut();
    void ReadFailed(int error);

    ConnectionOwner& m_owner;
    const NewPeer m_peer;
    const std::shared_ptr<Channel> m_channel;
    const std::unique_ptr<Transport> m_transport;
    std::optional<MessageRoom> m_room;     //!< room of a stranger, until it is closed
    std::optional<OutgoingMessage> m_next; //!< taken from the channel, but not accepted by the
                                           //!< transport yet
    int m_fd;
    bool m_blocked = false;      //!< the system accepts no more bytes for now
    int64_t m_blocked_until = 0; //!< time at which EndIfSlow() closes it; 0: not called yet
    std::unique_ptr<event, Free> m_read;
    std::unique_ptr<event, Free> m_write;
    std::unique_ptr<event, Free> m_room_timer; //!< null before the first wait
};

/** "Connection refused (111)": a system error in the form of Core's log. */
std::string SystemErrorText(int error);

} // namespace ibd
