// Socks5Client: the client side of SOCKS5 (RFC 1928, RFC 1929) until the server has connected us,
// without a socket. The server resolves names. A value for one connection attempt.
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
    /** Longest name or login. */
    static constexpr size_t kMaxText = 255;

    Socks5Client(std::string host, uint16_t port, std::optional<Login> login);

    /** Bytes to write completely before the next read. */
    Bytes TakeOutgoing() { return std::exchange(m_outgoing, {}); }
    /** Size of the server's next answer; later bytes may be the peer's. 0 if IsDone(). */
    size_t Wanted() const;
    /** Takes at most Wanted() bytes. An error ends the attempt; its text is that of Core's log. */
    Result<> Receive(ByteSpan bytes);
    bool IsDone() const { return m_state == State::kDone; }
    /** Whether the server works, but did not reach the peer. */
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
    size_t m_wanted = 2; //!< total bytes of the answer
    bool m_peer_failed = false;
};

} // namespace ibd
