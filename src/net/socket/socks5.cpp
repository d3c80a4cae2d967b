// See socks5.h.
#include "net/socket/socks5.h"

namespace ibd {

namespace {

constexpr uint8_t kVersion = 5;
constexpr uint8_t kNoLogin = 0;
constexpr uint8_t kUserPassword = 2;
constexpr uint8_t kLoginVersion = 1;
constexpr uint8_t kConnect = 1;
constexpr uint8_t kIpv4 = 1;
constexpr uint8_t kName = 3;
constexpr uint8_t kIpv6 = 4;
constexpr size_t kPortSize = 2;

std::string ReplyText(uint8_t reply)
{
    switch (reply) {
    case 0x01: return "general failure";
    case 0x02: return "connection not allowed";
    case 0x03: return "network unreachable";
    case 0x04: return "host unreachable";
    case 0x05: return "connection refused";
    case 0x06: return "TTL expired";
    case 0x07: return "protocol error";
    case 0x08: return "address type not supported";
    case 0xf0: return "onion service descriptor can not be found";
    case 0xf1: return "onion service descriptor is invalid";
    case 0xf2: return "onion service introduction failed";
    case 0xf3: return "onion service rendezvous failed";
    case 0xf4: return "onion service missing client authorization";
    case 0xf5: return "onion service wrong client authorization";
    case 0xf6: return "onion service invalid address";
    case 0xf7: return "onion service introduction timed out";
    default: return fmt::format("unknown (0x{:02x})", reply);
    }
}

void Append(Bytes& out, const std::string& text)
{
    out.push_back(static_cast<uint8_t>(text.size()));
    out.insert(out.end(), text.begin(), text.end());
}

} // namespace

Socks5Client::Socks5Client(std::string host, uint16_t port, std::optional<Login> login)
    : m_host(std::move(host)), m_port(port), m_login(std::move(login))
{
    CHECK(m_host.size() <= kMaxText);
    CHECK(!m_login || (m_login->user.size() <= kMaxText && m_login->password.size() <= kMaxText));
    m_outgoing =
        m_login ? Bytes{kVersion, 2, kNoLogin, kUserPassword} : Bytes{kVersion, 1, kNoLogin};
}

size_t Socks5Client::Wanted() const { return IsDone() ? 0 : m_wanted - m_incoming.size(); }

Result<> Socks5Client::Receive(ByteSpan bytes)
{
    CHECK(bytes.size() <= Wanted());
    m_incoming.insert(m_incoming.end(), bytes.begin(), bytes.end());
    if (m_incoming.size() < m_wanted) return {};
    switch (m_state) {
    case State::kMethod: return TakeMethod();
    case State::kLogin:
        if (m_incoming[0] != kLoginVersion || m_incoming[1] != 0) {
            return BadData("Proxy authentication unsuccessful");
        }
        Ask();
        return {};
    case State::kReply: return TakeReply();
    case State::kBoundSize:
        m_wanted = m_incoming[0] + kPortSize;
        m_incoming.clear();
        m_state = State::kBound;
        return {};
    default: m_state = State::kDone; return {};
    }
}

Result<> Socks5Client::TakeMethod()
{
    if (m_incoming[0] != kVersion) return BadData("Proxy failed to initialize");
    const uint8_t method = m_incoming[1];
    if (method == kNoLogin) {
        Ask();
        return {};
    }
    if (method != kUserPassword || !m_login) {
        return BadData("Proxy requested wrong authentication method {:02x}", method);
    }
    m_outgoing = {kLoginVersion};
    Append(m_outgoing, m_login->user);
    Append(m_outgoing, m_login->password);
    m_incoming.clear();
    m_state = State::kLogin;
    return {};
}

void Socks5Client::Ask()
{
    m_outgoing = {kVersion, kConnect, 0, kName};
    Append(m_outgoing, m_host);
    m_outgoing.push_back(static_cast<uint8_t>(m_port >> 8));
    m_outgoing.push_back(static_cast<uint8_t>(m_port & 0xff));
    m_incoming.clear();
    m_wanted = 4;
    m_state = State::kReply;
}

Result<> Socks5Client::TakeReply()
{
    if (m_incoming[0] != kVersion) return BadData("Proxy failed to accept request");
    if (m_incoming[1] != 0) {
        m_peer_failed = true;
        return BadData("Socks5() connect to {}:{} failed: {}", m_host, m_port,
                       ReplyText(m_incoming[1]));
    }
    if (m_incoming[2] != 0) return BadData("Error: malformed proxy response");
    m_state = State::kBound;
    switch (m_incoming[3]) {
    case kIpv4: m_wanted = 4 + kPortSize; break;
    case kIpv6: m_wanted = 16 + kPortSize; break;
    case kName:
        m_wanted = 1;
        m_state = State::kBoundSize;
        break;
    default: return BadData("Error: malformed proxy response");
    }
    m_incoming.clear();
    return {};
}

} // namespace ibd
