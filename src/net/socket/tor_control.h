// TorControl: uses the control port of a Tor on this machine to create an onion service that
// forwards to us, and finds its SOCKS proxy (-torcontrol, -listenonion). Authenticates with
// nothing, Tor's cookie or a password, as Tor requires. Keeps the connection open, because the
// service ends with it; reconnects after a loss, with growing delays.
//
// Used on the thread of the owner's loop; callbacks run there. Memory: kMostLines of kLongestLine
// of one reply. Specification: Tor's control-spec; the service's key is stored in
// onion_v3_private_key in Core's format.
#pragma once

#include "net/socket/line_socket.h"
#include "util/env.h"
#include "util/log.h"
#include "util/secret.h"

#include <deque>
#include <functional>
#include <map>

namespace ibd {

/** Parses KEY=value KEY="quoted" ... in a line of Tor. Empty: malformed. */
std::map<std::string, std::string> ParseTorMapping(std::string_view text);

class TorControl {
public:
    static constexpr size_t kLongestLine = 100'000;
    static constexpr size_t kMostLines = 1'000;
    static constexpr int64_t kConnectTimeout = 5'000; //!< milliseconds
    static constexpr int64_t kFirstRetry = 1'000;     //!< milliseconds; 1.5 times as much each time
    static constexpr int64_t kLongestRetry = 600'000;
    static constexpr uint16_t kControlPort = 9051;
    static constexpr uint16_t kSocksPort = 9050;

    struct Settings {
        Env& env;
        Logger& log;
        event_base* base = nullptr;
        std::string name; //!< of the control port, as written, for the log
        Endpoint control; //!< invalid: the name could not be resolved
        std::string password;
        Path key_file;
        Endpoint target;         //!< where Tor forwards connections to the service
        uint16_t port = 0;       //!< of the service
        bool find_proxy = false; //!< the user named no proxy
    };
    struct Events {
        /** The service has become reachable, or no longer is. */
        std::function<void(const Endpoint& service, bool on)> service;
        std::function<void(const Endpoint& socks)> proxy;
    };

    TorControl(Settings settings, Events events);
    ~TorControl();
    TorControl(const TorControl&) = delete;
    TorControl& operator=(const TorControl&) = delete;

private:
    struct Reply {
        int code = 0;
        std::vector<std::string> lines;
    };
    using OnReply = std::function<void(const Reply& reply)>;
    struct Free {
        void operator()(event* e) const;
    };

    void Connect();
    void Lost(const std::string& why);
    void TakeLine(const std::string& line);
    void Command(const std::string& text, OnReply on_reply);
    void TakeProtocolInfo(const Reply& reply);
    void Authenticate(const std::string& methods, const std::string& cookie_file);
    void AuthenticateByCookie(const std::string& cookie_file);
    void TakeChallenge(const Reply& reply, const Bytes& cookie, const Bytes& nonce);
    void TakeAuthentication(const Reply& reply);
    void TakeSocksPorts(const Reply& reply);
    void AddOnion(bool with_pow);
    void TakeOnion(const Reply& reply, bool with_pow);
    void WarnOfOnion(const Reply& reply);

    const Settings m_settings;
    const Events m_events;
    std::unique_ptr<event, Free> m_retry_timer;
    int64_t m_retry = kFirstRetry;
    std::unique_ptr<LineSocket> m_socket;
    bool m_answered = false; //!< the server is Tor
    Reply m_reply;           //!< received part of the next reply
    std::deque<OnReply> m_waiting;
    SecretText m_key; //!< of the service, in Tor's format
    std::optional<Endpoint> m_service;
};

} // namespace ibd
