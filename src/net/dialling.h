// Dialling: one attempt to reach a peer - each of its addresses in turn, straight, through a SOCKS5
// server or by I2P - until there is a socket over which the peer can be spoken to. Owned by
// Connections, its thread only. Bounds: kMaxTargets addresses, -timeout for each to be connected,
// kProxyTimeout for each answer of a proxy.
#pragma once

#include "net/i2p_session.h"
#include "net/network_options.h"
#include "net/socks5.h"

namespace ibd {

/** Of a socket that is nobody's peer yet, or of an attempt to get one: counts up. */
using SocketId = int64_t;

struct DialTarget {
    Endpoint address;  //!< not valid: only the proxy knows
    std::string host;  //!< then this is what the proxy is told
    uint16_t port = 0; //!< likewise
    ProxyServer proxy; //!< straight, if it is not set; for I2P its bridge
};

struct DialOrder {
    static constexpr size_t kMaxTargets = 256;

    SocketId id = -1;
    std::vector<DialTarget> targets; //!< in order
    bool manual = false;             //!< the user asked, so that a failure is always logged
};

struct DialResult {
    SocketId id = -1;
    /** Of the order's targets those that were tried; of the last one there is a socket if `ok`. */
    size_t tried = 0;
    /** For each that was tried: the proxy failed, which says nothing about the peer. */
    std::vector<bool> proxy_failed;
    bool ok = false;
    Endpoint local;
};

class Dialling {
public:
    struct Settings {
        Logger& log;
        int64_t connect_milliseconds = 5000;
        /** Logins at proxies that isolate streams: no two are the same. */
        std::function<Socks5Client::Login()> new_login;
        /** Tells of a socket to an address of I2P, or -1; maybe before it returns. */
        std::function<void(const Endpoint& peer, I2pSession::Connected done)> connect_i2p;
    };
    static constexpr int64_t kProxyTimeout = 20'000; //!< milliseconds
    /** Told once, with the socket or -1; on the loop's thread, and never by the constructor. */
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
    /** What connect() goes to, for the log. */
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
