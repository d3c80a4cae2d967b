// Dialling: one attempt to reach a peer: tries its addresses in turn, directly, through a SOCKS5
// server or by I2P, until there is a usable socket. Owned by Connections, on its thread. Bounds:
// kMaxTargets addresses, -timeout for connecting to each, kProxyTimeout for each answer of a proxy.
#pragma once

#include "net/socket/i2p_session.h"
#include "net/socket/proxy_server.h"
#include "net/socket/socks5.h"

namespace ibd {

/** Identifies a socket without a peer, or an attempt to get one; ascending. */
using SocketId = int64_t;

struct DialTarget {
    Endpoint address;  //!< invalid: only the proxy resolves the name
    std::string host;  //!< name for the proxy
    uint16_t port = 0; //!< port for the proxy
    ProxyServer proxy; //!< not set: direct; for I2P the bridge
};

struct DialOrder {
    static constexpr size_t kMaxTargets = 256;

    SocketId id = -1;
    std::vector<DialTarget> targets; //!< in order
    bool manual = false;             //!< requested by the user, so a failure is always logged
};

struct DialResult {
    SocketId id = -1;
    /** Number of targets tried; with `ok` the last one has a socket. */
    size_t tried = 0;
    /** For each tried target: whether the proxy failed, so that the peer is not at fault. */
    std::vector<bool> proxy_failed;
    bool ok = false;
    Endpoint local;
};

/** The interface of the thread of the peers to the sockets, for new connections. Owned by net;
 *  implemented by Connections, and by tests without sockets. */
class Dialler {
public:
    virtual ~Dialler() = default;
    virtual SocketId NextSocketId() = 0;
    /** The result comes by ConnectionEvents::Dialled(). */
    virtual void Dial(DialOrder order) = 0;
    /** Closes an unwanted socket. */
    virtual void Refuse(SocketId socket) = 0;
};

class Dialling {
public:
    struct Settings {
        Logger& log;
        int64_t connect_milliseconds = 5000;
        /** Logins for stream isolation at proxies: all are different. */
        std::function<Socks5Client::Login()> new_login;
        /** Connects to an I2P address and reports a socket, or -1; possibly before it returns. */
        std::function<void(const Endpoint& peer, I2pSession::Connected done)> connect_i2p;
    };
    static constexpr int64_t kProxyTimeout = 20'000; //!< milliseconds
    /** Called once, with the socket or -1; on the loop's thread, and never by the constructor. */
    using Done = std::function<void(DialResult result, int fd)>;

    Dialling(event_base* base, const Settings& settings, DialOrder order, Done done);
    ~Dialling();
    Dialling(const Dialling&) = delete;
    Dialling& operator=(const Dialling&) = delete;

private:
    struct Free {
        void operator()(event* e) const;
    };
    static void OnEvent(int, short what, void* self);
    const DialTarget& Target() const { return m_order.targets[m_result.tried - 1]; }
    bool ViaProxy() const { return Target().proxy.IsSet(); }
    void TryNext();
    bool OpenSocket();
    void ConnectByI2p();
    void Connected();
    void StartProxy();
    void Speak();
    void Listen();
    void Fail(const std::string& why, LogLevel level, bool proxy_failed);
    void Finish(int fd);
    void WaitFor(short what, int64_t milliseconds);
    void CloseSocket();
    /** The target of connect(), for the log. */
    std::string Destination() const;

    event_base* const m_base;
    const Settings m_settings;
    const DialOrder m_order;
    const Done m_done;
    DialResult m_result;
    int m_fd = -1;
    std::unique_ptr<event, Free> m_event;
    std::optional<Socks5Client> m_socks;
    Bytes m_outgoing;
    size_t m_written = 0;
};

} // namespace ibd
