// TorControl: has a Tor that runs on this machine forward an onion service of our own to us, by its
// control port, and finds its SOCKS proxy (-torcontrol, -listenonion). It says who it is by
// nothing, by Tor's cookie or by a password, as Tor asks for it; keeps the connection, with which
// Tor ends the service; and tries again when it is lost, later each time.
//
// Owned by who owns the loop, its thread only; told things there. Memory: kMostLines of
// kLongestLine of one reply. Specification: Tor's control-spec; the service's key is kept in
// onion_v3_private_key as Core keeps it.
#pragma once

#include "net/line_socket.h"
#include "util/env.h"
#include "util/log.h"
#include "util/secret.h"

#include <deque>
#include <functional>
#include <map>

namespace ibd {

/** KEY=value KEY="quoted" ... of a line of Tor's. Empty: it is none. */
std::map<std::string, std::string> ParseTorMapping(std::string_view text);

class TorControl {
public:
    static constexpr size_t kLongestLine = 100'000;
    static constexpr size_t kMostLines = 1'000;
    static constexpr int64_t kConnectTimeout = 5'000; //!< milliseconds
    static constexpr int64_t kFirstRetry = 1'000;     //!< half as much more each time
    static constexpr int64_t kLongestRetry = 600'000;
    static constexpr uint16_t kControlPort = 9051;
    static constexpr uint16_t kSocksPort = 9050;

    struct Settings {
        Env& env;
        Logger& log;
        event_base* base = nullptr;
        std::string name; //!< of the control port, for the log
        Endpoint control; //!< not valid: the name led nowhere
        std::string password;
        Path key_file;
        Endpoint target;         //!< where Tor brings those who call the service
        uint16_t port = 0;       //!< of the service
        bool find_proxy = false; //!< nobody said which one to use
    };
    struct Events {
        /** Others can call the service, or no more. */
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
    bool m_answered = false; //!< it is Tor that is connected
    Reply m_reply;           //!< what came of the next one
    std::deque<OnReply> m_waiting;
    SecretText m_key; //!< of the service, as Tor writes it
    std::optional<Endpoint> m_service;
};

} // namespace ibd
