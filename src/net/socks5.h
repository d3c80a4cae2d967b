// Socks5Client: what is said to a SOCKS5 server (RFC 1928, RFC 1929) until it has connected us,
// without a socket. Names are left for the server to look up. A value of one connection attempt.
#pragma once

#include "util/bytes.h"
#include "util/result.h"

#include <optional>
#include <string>

namespace ibd {

class Socks5Client {
public:
    struct Login {
        std::string user;
        std::string password;
    };
    /** Longer names and logins cannot be written. */
    static constexpr size_t kMaxText = 255;

    Socks5Client(std::string host, uint16_t port, std::optional<Login> login);

    /** To be written, in whole, before anything is read. */
    Bytes TakeOutgoing() { return std::exchange(m_outgoing, {}); }
    /** Bytes that belong to the server's next answer: more may be the peer's. 0 when IsDone(). */
    size_t Wanted() const;
    /** At most Wanted() bytes. The error ends the attempt; it is in the words of Core's log. */
    Result<> Receive(ByteSpan bytes);
    bool IsDone() const { return m_state == State::kDone; }
    /** The server works, but the peer was not reached. */
    bool PeerFailed() const { return m_peer_failed; }

private:
    enum class State { kMethod, kLogin, kReply, kBoundSize, kBound, kDone };
    Result<> TakeMethod();
    Result<> TakeReply();
    void Ask();

    const std::string m_host;
    const uint16_t m_port;
    const std::optional<Login> m_login;
    State m_state = State::kMethod;
    Bytes m_outgoing;
    Bytes m_incoming;
    size_t m_wanted = 2; //!< bytes of the answer in all
    bool m_peer_failed = false;
};

} // namespace ibd
