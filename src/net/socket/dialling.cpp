// See dialling.h.
#include "net/socket/dialling.h"

#include "net/address/socket_address.h"
#include "net/socket/connection.h"

#include <cerrno>

#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace ibd {

namespace {

std::optional<SocketAddress> AddressOf(const DialTarget& target)
{
    if (!target.proxy.IsSet()) return ToSocketAddress(target.address);
    if (!target.proxy.unix_path.empty()) return UnixSocketAddress(target.proxy.unix_path);
    return ToSocketAddress(target.proxy.address);
}

} // namespace

void Dialling::Free::operator()(event* e) const { event_free(e); }

Dialling::Dialling(event_base* base, const Settings& settings, DialOrder order, Done done)
    : m_base(base), m_settings(settings), m_order(std::move(order)), m_done(std::move(done)),
      m_event(event_new(base, -1, 0, OnEvent, this))
{
    CHECK(!m_order.targets.empty() && m_order.targets.size() <= DialOrder::kMaxTargets);
    m_result.id = m_order.id;
    WaitFor(0, 0); // from the loop, so that the caller has its Dialling before any callback
}

Dialling::~Dialling()
{
    m_event.reset();
    CloseSocket();
}

void Dialling::CloseSocket()
{
    if (m_fd >= 0) ::close(std::exchange(m_fd, -1));
}

void Dialling::OnEvent(int, short what, void* arg)
{
    auto* const self = static_cast<Dialling*>(arg);
    if (self->m_fd < 0) return self->TryNext();
    if ((what & EV_TIMEOUT) != 0) {
        if (self->m_socks) {
            // The proxy probably waits for the peer; for Tor that is common.
            return self->Fail({}, LogLevel::kDebug, false);
        }
        return self->Fail(fmt::format("connection attempt to {} timed out", self->Destination()),
                          LogLevel::kDebug, self->ViaProxy());
    }
    if (!self->m_socks) return self->Connected();
    if ((what & EV_WRITE) != 0) return self->Speak();
    self->Listen();
}

void Dialling::WaitFor(short what, int64_t milliseconds)
{
    event_del(m_event.get());
    CHECK(event_assign(m_event.get(), m_base, m_fd, what, OnEvent, this) == 0);
    const timeval when{milliseconds / 1000, (milliseconds % 1000) * 1000};
    event_add(m_event.get(), &when);
}

std::string Dialling::Destination() const
{
    const DialTarget& target = Target();
    if (!target.proxy.IsSet()) return target.address.ToString();
    if (!target.proxy.unix_path.empty()) return target.proxy.unix_path;
    return target.proxy.address.ToString();
}

void Dialling::TryNext()
{
    if (m_result.tried == m_order.targets.size()) return Finish(-1);
    ++m_result.tried;
    m_result.proxy_failed.push_back(false);
    m_socks.reset();
    if (ViaProxy() && Target().address.address.Is(AddressNetwork::kI2p)) return ConnectByI2p();
    if (ViaProxy()) {
        m_settings.log.Debug(LogCategory::kProxy, "Using proxy: {} to connect to {}",
                             Target().proxy.ToString(),
                             Target().address.address.IsValid()
                                 ? Target().address.ToString()
                                 : fmt::format("{}:{}", Target().host, Target().port));
    }
    if (!OpenSocket()) return;
    const auto address = AddressOf(Target());
    if (::connect(m_fd, address->Get(), address->size) == 0) return Connected();
    if (errno == EINPROGRESS || errno == EAGAIN) {
        return WaitFor(EV_WRITE, m_settings.connect_milliseconds);
    }
    const bool loud = m_order.manual || ViaProxy();
    Fail(fmt::format("connect() to {} failed: {}", Destination(), SystemErrorText(errno)),
         loud ? LogLevel::kInfo : LogLevel::kDebug, ViaProxy());
}

void Dialling::ConnectByI2p()
{
    const auto connected = [this](int fd, bool bridge_failed, const Endpoint& own) {
        // The session has logged the reason.
        if (fd < 0) return Fail({}, LogLevel::kDebug, bridge_failed);
        m_result.local = own;
        Finish(fd);
    };
    m_settings.connect_i2p(Target().address, connected);
}

bool Dialling::OpenSocket()
{
    const auto address = AddressOf(Target());
    if (!address) {
        Fail(fmt::format("Cannot get sockaddr for {}: unsupported network", Destination()),
             LogLevel::kInfo, ViaProxy());
        return false;
    }
    m_fd = ::socket(address->Family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (m_fd < 0) {
        Fail(fmt::format("Cannot create a socket for connecting to {}", Destination()),
             LogLevel::kError, ViaProxy());
        return false;
    }
    const int on = 1;
    if (address->Family() != AF_UNIX &&
        ::setsockopt(m_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        m_settings.log.Debug(LogCategory::kNet, "Unable to set TCP_NODELAY on a newly created "
                                                "socket, continuing anyway");
    }
    return true;
}

void Dialling::Connected()
{
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(m_fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) {
        const bool loud = m_order.manual || ViaProxy();
        return Fail(fmt::format("connect() to {} failed after wait: {}", Destination(),
                                SystemErrorText(error)),
                    loud ? LogLevel::kInfo : LogLevel::kDebug, ViaProxy());
    }
    if (ViaProxy()) return StartProxy();
    m_result.local = LocalEndpoint(m_fd);
    Finish(std::exchange(m_fd, -1));
}

void Dialling::StartProxy()
{
    const DialTarget& target = Target();
    const bool known = target.address.address.IsValid();
    const std::string host = known ? target.address.address.ToString() : target.host;
    const uint16_t port = known ? target.address.port : target.port;
    m_settings.log.Debug(LogCategory::kNet, "SOCKS5 connecting {}", host);
    if (host.size() > Socks5Client::kMaxText) {
        return Fail("Hostname too long", LogLevel::kError, false);
    }
    std::optional<Socks5Client::Login> login;
    if (target.proxy.randomize) login = m_settings.new_login();
    m_socks.emplace(host, port, std::move(login));
    m_outgoing = m_socks->TakeOutgoing();
    m_written = 0;
    Speak();
}

void Dialling::Speak()
{
    while (m_written < m_outgoing.size()) {
        const ByteSpan left = ByteSpan(m_outgoing).subspan(m_written);
        const ssize_t size = ::send(m_fd, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size > 0) {
            m_written += static_cast<size_t>(size);
        } else if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
            return WaitFor(EV_WRITE, kProxyTimeout);
        } else {
            return Fail(
                fmt::format("Error during SOCKS5 proxy handshake: {}", SystemErrorText(errno)),
                LogLevel::kError, false);
        }
    }
    WaitFor(EV_READ, kProxyTimeout);
}

void Dialling::Listen()
{
    uint8_t bytes[Socks5Client::kMaxText + 2];
    const size_t wanted = std::min(m_socks->Wanted(), sizeof bytes);
    const ssize_t size = ::recv(m_fd, bytes, wanted, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return WaitFor(EV_READ, kProxyTimeout);
    if (size <= 0) return Fail("Error while reading proxy response", LogLevel::kError, false);
    const auto received = m_socks->Receive(ByteSpan(bytes, static_cast<size_t>(size)));
    if (!received) {
        const bool peer = m_socks->PeerFailed();
        return Fail(received.Message(), peer ? LogLevel::kDebug : LogLevel::kError, false);
    }
    if (m_socks->IsDone()) {
        m_settings.log.Debug(LogCategory::kNet, "SOCKS5 connected {}",
                             Target().address.address.IsValid()
                                 ? Target().address.address.ToString()
                                 : Target().host);
        m_result.local = LocalEndpoint(m_fd);
        return Finish(std::exchange(m_fd, -1));
    }
    m_outgoing = m_socks->TakeOutgoing();
    m_written = 0;
    if (m_outgoing.empty()) return WaitFor(EV_READ, kProxyTimeout);
    Speak();
}

void Dialling::Fail(const std::string& why, LogLevel level, bool proxy_failed)
{
    if (!why.empty()) {
        switch (level) {
        case LogLevel::kError: m_settings.log.Error("{}", why); break;
        case LogLevel::kInfo: m_settings.log.Info("{}", why); break;
        default: m_settings.log.Debug(LogCategory::kNet, "{}", why);
        }
    }
    m_result.proxy_failed.back() = proxy_failed;
    m_socks.reset();
    event_del(m_event.get());
    CloseSocket();
    WaitFor(0, 0); // the next target
}

void Dialling::Finish(int fd)
{
    event_del(m_event.get());
    m_result.ok = fd >= 0;
    m_done(m_result, fd);
}

} // namespace ibd
