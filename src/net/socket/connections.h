// Connections: all sockets to peers, on one thread (net-io): listens, accepts, dials, converts
// bytes to messages and back. The thread of the peers decides on accepting, dialing and messages;
// it receives ConnectionEvents and calls the methods here.
//
// A socket has no peer until Admit() assigns a PeerId, and is not read before. Owned by
// PeerNetwork. Bounds: kMaxUndecided sockets that are not admitted yet, above which none is
// accepted; for each connection the bounds of channel.h and transport.h; for all together those of
// input_room.h and OutputRoom.
#pragma once

#include "net/socket/connection.h"
#include "net/socket/dialling.h"
#include "net/socket/io_loop.h"
#include "util/thread_log.h"

#include <optional>
#include <unordered_map>

struct evconnlistener;

namespace ibd {

/** An inbound connection. */
struct Caller {
    SocketId id = -1;
    Endpoint remote;
    Endpoint local;
    uint32_t permissions = kPermitNone; //!< of the local address
    bool onion = false;                 //!< it arrived through our hidden service
};

/** Called on the thread of the sockets: implementations pass events on and return at once. */
class ConnectionEvents {
public:
    virtual ~ConnectionEvents() = default;
    virtual void Accepted(Caller caller) = 0;
    virtual void Dialled(DialResult result) = 0;
    virtual void Received(PeerId peer, std::vector<ReceivedMessage> messages) = 0;
    /** The pause of a peer with SendPaused() has ended. */
    virtual void Relieved(PeerId peer) = 0;
    /** The last event of a peer. `speaks_v1`: reconnect by v1. */
    virtual void Closed(PeerId peer, bool speaks_v1) = 0;
    /** Our address has become reachable by others, or no longer is. */
    virtual void Reachable(const Endpoint& own, bool on) = 0;
};

struct ConnectionSettings {
    NetworkMagic magic{};
    size_t max_send = 0;    //!< -maxsendbuffer
    size_t max_receive = 0; //!< -maxreceivebuffer
    int64_t connect_milliseconds = 5000;
    bool log_addresses = false;
    bool cjdns_reachable = false;
    Endpoint i2p_bridge;          //!< -i2psam; invalid: none
    Path i2p_key;                 //!< file of our I2P address for inbound streams; empty: none are
                                  //!< accepted
    std::function<int64_t()> now; //!< microseconds since 1970; any thread
};

class Connections final : public ConnectionOwner, public Dialler {
public:
    static constexpr size_t kMaxUndecided = 64;
    static constexpr size_t kReadAtOnce = 256 * 1024; //!< bytes
    static constexpr size_t kLongMessage = 16 * 1024; //!< bytes
    static constexpr int kAcceptPauseSeconds = 1;     //!< pause after a failure, for example
                                                      //!< without free descriptors
    static constexpr size_t kMaxUnusedI2p = 10;       //!< sessions kept for later attempts

    Connections(Env& env, Logger& log, ConnectionSettings settings, ConnectionEvents& events);
    ~Connections() override;

    /** Call before Start(). The error is Core's sentence. */
    Result<> Listen(const Binding& binding);
    void Start();
    /** Creates another object on the loop's thread; Stop() destroys it there. */
    using MakeGuest = std::function<std::shared_ptr<void>(event_base* base)>;
    void Attach(MakeGuest make);
    /** Closes everything and ends the thread; no event follows. */
    void Stop();

    // For the thread of the peers.

    void Dial(DialOrder order) override;
    enum class Speech { kV1, kV2, kEither }; //!< kEither: the choice of an inbound peer
    /** Assigns the socket to a peer. */
    void Admit(SocketId socket, NewPeer peer, Speech speech);
    void Refuse(SocketId socket) override;
    /** Queues a message for the next Flush(); a long one flushes itself. Several short messages
     *  share one wake-up of the other thread. */
    void Send(PeerId peer, OutgoingMessage message);
    void Flush();
    bool SendPaused(PeerId peer) const;
    void Consumed(PeerId peer, size_t bytes);
    void Disconnect(PeerId peer);
    PeerTraffic Traffic(PeerId peer) const;
    Channel::Counts CountsByType(PeerId peer) const;
    /** Call after Closed(). */
    void Forget(PeerId peer) { m_channels.erase(peer); }

    // Any thread.

    uint64_t BytesSent() const { return m_sent; }
    uint64_t BytesReceived() const { return m_received; }
    /** The listening addresses, with the ports chosen by the system for 0. */
    const std::vector<Endpoint>& Listening() const { return m_listening; }
    SocketId NextSocketId() override { return m_next_socket++; }

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

    InputRoom m_called;
    InputRoom m_strangers;
    OutputRoom m_output;
    /** Used only by the thread of the peers. */
    std::unordered_map<PeerId, std::shared_ptr<Channel>> m_channels;
    std::vector<PeerId> m_unflushed; //!< used only by the thread of the peers

    // Used only by net-io while it runs.
    std::optional<ThreadLines> m_lines; //!< while the loop runs
    IoLoop m_loop;
    std::vector<std::shared_ptr<void>> m_guests;
    std::vector<std::unique_ptr<Listener>> m_listeners;
    bool m_listening_paused = false;
    size_t m_undecided = 0; //!< inbound ones among m_sockets
    struct LooseSocket {
        int fd;
        bool called_us;
    };
    std::map<SocketId, LooseSocket> m_sockets; //!< not admitted yet
    std::map<SocketId, std::unique_ptr<Dialling>> m_dials;
    std::unordered_map<PeerId, std::unique_ptr<Connection>> m_connections;
    /** With a permanent address: the session of all streams. */
    std::shared_ptr<I2pSession> m_i2p;
    /** Without: a session for each stream, so that peers cannot link them. */
    std::map<SocketId, std::shared_ptr<I2pSession>> m_i2p_of_sockets;
    std::unordered_map<PeerId, std::shared_ptr<I2pSession>> m_i2p_of_peers;
    std::vector<std::shared_ptr<I2pSession>> m_unused_i2p;
    Bytes m_buffer;
    std::string m_login_prefix; //!< random
    uint64_t m_logins = 0;
};

} // namespace ibd
