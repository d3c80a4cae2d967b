// Connections: all sockets to peers, on one thread (net-io): listens, accepts, dials, turns bytes
// into messages and back. Which of those who call are let in, who is called and what is said is for
// the thread that owns the peers, which is told by ConnectionEvents and answers by the methods
// here.
//
// A socket is nobody's until Admit() gives it a PeerId: nothing is read from it before.
// Owned by PeerNetwork. Bounds: kMaxUndecided sockets that are not admitted yet, beyond which
// nothing is accepted; for each connection what channel.h and transport.h say.
#pragma once

#include "net/connection.h"
#include "net/dialling.h"
#include "net/io_loop.h"
#include "util/thread_log.h"

#include <optional>
#include <unordered_map>

struct evconnlistener;

namespace ibd {

/** Somebody called. */
struct Caller {
    SocketId id = -1;
    Endpoint remote;
    Endpoint local;
    uint32_t permissions = kPermitNone; //!< of the address that was called
    bool onion = false;                 //!< it came in by our hidden service
};

/** All on the thread of the sockets: implementations pass it on and return at once. */
class ConnectionEvents {
public:
    virtual ~ConnectionEvents() = default;
    virtual void Accepted(Caller caller) = 0;
    virtual void Dialled(DialResult result) = 0;
    virtual void Received(PeerId peer, std::vector<ReceivedMessage> messages) = 0;
    /** A peer for which SendPaused() was said can be sent to again. */
    virtual void Relieved(PeerId peer) = 0;
    /** The last that is heard of a peer. `speaks_v1`: call it again, by v1. */
    virtual void Closed(PeerId peer, bool speaks_v1) = 0;
    /** Others can call us there, or no more. */
    virtual void Reachable(const Endpoint& own, bool on) = 0;
};

struct ConnectionSettings {
    NetworkMagic magic{};
    size_t max_send = 0;    //!< -maxsendbuffer
    size_t max_receive = 0; //!< -maxreceivebuffer
    int64_t connect_milliseconds = 5000;
    bool log_addresses = false;
    bool cjdns_reachable = false;
    Endpoint i2p_bridge;     //!< -i2psam; not valid: there is none
    Path i2p_key;            //!< file of the address that others may call by I2P; empty: none may
    std::function<int64_t()> now; //!< microseconds since 1970; any thread
};

class Connections final : public ConnectionOwner {
public:
    static constexpr size_t kMaxUndecided = 64;
    static constexpr size_t kReadAtOnce = 256 * 1024; //!< bytes
    static constexpr size_t kLongMessage = 16 * 1024; //!< bytes
    static constexpr int kAcceptPauseSeconds = 1;     //!< after a failure, for want of files say
    static constexpr size_t kMaxUnusedI2p = 10;       //!< sessions kept for the next attempt

    Connections(Env& env, Logger& log, ConnectionSettings settings, ConnectionEvents& events);
    ~Connections() override;

    /** Before Start(). The error is Core's sentence. */
    Result<> Listen(const Binding& binding);
    void Start();
    /** Something else that lives on the loop: made there, and destroyed there by Stop(). */
    using MakeGuest = std::function<std::shared_ptr<void>(event_base* base)>;
    void Attach(MakeGuest make);
    /** Closes everything and ends the thread; no event comes after it. */
    void Stop();

    // From the thread of the peers.

    void Dial(DialOrder order);
    enum class Speech { kV1, kV2, kEither }; //!< the last: whichever one who called us speaks
    /** The socket belongs to this peer now. */
    void Admit(SocketId socket, NewPeer peer, Speech speech);
    /** The socket is not wanted. */
    void Refuse(SocketId socket);
    /** Goes out with the next Flush(), which a long one brings about itself: many short ones are
     *  worth one wake-up of the other thread. */
    void Send(PeerId peer, OutgoingMessage message);
    void Flush();
    bool SendPaused(PeerId peer) const;
    void Consumed(PeerId peer, size_t bytes);
    void Disconnect(PeerId peer);
    PeerTraffic Traffic(PeerId peer) const;
    Channel::Counts CountsByType(PeerId peer) const;
    /** After Closed(). */
    void Forget(PeerId peer) { m_channels.erase(peer); }

    // Any thread.

    uint64_t BytesSent() const { return m_sent; }
    uint64_t BytesReceived() const { return m_received; }
    /** Where it listens, with the ports that the system chose where 0 was asked for. */
    const std::vector<Endpoint>& Listening() const { return m_listening; }
    SocketId NextSocketId() { return m_next_socket++; }

    // ConnectionOwner; net-io.

    void OnMessages(Connection& connection, std::vector<ReceivedMessage> messages) override;
    void OnClosed(Connection& connection) override;
    int64_t Now() override { return m_settings.now() / 1'000'000; }
    MutableByteSpan Buffer() override { return m_buffer; }
    void OnRelief(Connection& connection) override { m_events.Relieved(connection.Peer().id); }
    void CountTraffic(size_t sent, size_t received) override;
    std::string NameOf(const Connection& connection) const override;
    Logger& Log() override { return m_log; }

private:
    struct Free {
        void operator()(evconnlistener* listener) const;
    };
    struct Listener {
        Connections* owner;
        Binding binding;
        std::unique_ptr<evconnlistener, Free> socket;
    };

    void Accept(const Listener& listener, int fd, const Endpoint& remote);
    void AcceptFailed();
    void PauseListening(bool pause);
    void Adopt(SocketId socket, const NewPeer& peer, const std::shared_ptr<Channel>& channel,
               Speech speech);
    void Dialled(const DialResult& result, int fd);
    std::shared_ptr<I2pSession> MakeI2pSession(const Path& key_file);
    void ListenByI2p();
    void ConnectByI2p(SocketId id, const Endpoint& peer, const I2pSession::Connected& done);
    std::unique_ptr<Transport> MakeTransport(Speech speech, PeerId peer) const;
    Connection* Find(PeerId peer);
    Socks5Client::Login NewLogin();

    Env& m_env;
    Logger& m_log;
    const ConnectionSettings m_settings;
    ConnectionEvents& m_events;
    std::atomic<SocketId> m_next_socket{0};
    std::atomic<uint64_t> m_sent{0};
    std::atomic<uint64_t> m_received{0};
    std::vector<Endpoint> m_listening;

    /** The thread of the peers alone uses it. */
    std::unordered_map<PeerId, std::shared_ptr<Channel>> m_channels;
    std::vector<PeerId> m_unflushed; //!< likewise

    // net-io alone uses these, once it runs.
    std::optional<ThreadLines> m_lines; //!< while the loop runs
    IoLoop m_loop;
    std::vector<std::shared_ptr<void>> m_guests;
    std::vector<std::unique_ptr<Listener>> m_listeners;
    bool m_listening_paused = false;
    size_t m_undecided = 0; //!< of m_sockets those that called
    struct LooseSocket {
        int fd;
        bool called_us;
    };
    std::map<SocketId, LooseSocket> m_sockets; //!< not admitted yet
    std::map<SocketId, std::unique_ptr<Dialling>> m_dials;
    std::unordered_map<PeerId, std::unique_ptr<Connection>> m_connections;
    /** With an address that others may call: all streams are its. */
    std::shared_ptr<I2pSession> m_i2p;
    /** Without: one for each stream, so that peers cannot know that they have the same. */
    std::map<SocketId, std::shared_ptr<I2pSession>> m_i2p_of_sockets;
    std::unordered_map<PeerId, std::shared_ptr<I2pSession>> m_i2p_of_peers;
    std::vector<std::shared_ptr<I2pSession>> m_unused_i2p;
    Bytes m_buffer;
    std::string m_login_prefix; //!< chance
    uint64_t m_logins = 0;
};

} // namespace ibd
