// See line_socket.h.
#include "net/socket/line_socket.h"

#include "net/address/socket_address.h"
#include "net/socket/connection.h"

#include <cerrno>

#include <event2/event.h>
#include <unistd.h>

namespace ibd {

void LineSocket::Free::operator()(event* e) const { event_free(e); }

LineSocket::LineSocket(event_base* base, const Endpoint& server, int64_t milliseconds,
                       size_t longest_line, OnLine on_line, OnEnd on_end)
    : m_base(base), m_longest_line(longest_line), m_on_line(std::move(on_line)),
      m_on_end(std::move(on_end)), m_event(event_new(base, -1, 0, OnEvent, this)),
      m_patience(milliseconds)
{
    if (!Open(server)) {
        m_failure = SystemErrorText(errno);
        m_patience = 1; // from the loop, so that the caller has its LineSocket before any callback
    }
    Arm();
}

LineSocket::~LineSocket()
{
    m_event.reset();
    if (m_fd >= 0) ::close(m_fd);
}

bool LineSocket::Open(const Endpoint& server)
{
    const auto address = ToSocketAddress(server);
    errno = EAFNOSUPPORT;
    if (!address) return false;
    m_fd = ::socket(address->Family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (m_fd < 0) return false;
    return ::connect(m_fd, address->Get(), address->size) == 0 || errno == EINPROGRESS;
}

void LineSocket::OnEvent(int, short what, void* arg)
{
    LineSocket& self = *static_cast<LineSocket*>(arg);
    if (!self.m_failure.empty()) return self.End(self.m_failure);
    if ((what & EV_TIMEOUT) != 0) return self.End("timed out");
    if (!self.m_connected) return self.FinishConnect();
    if ((what & EV_WRITE) != 0 && !self.Write()) return;
    if ((what & EV_READ) != 0) return self.Read();
    self.Arm();
}

/** Waits for the next event. */
void LineSocket::Arm()
{
    event_del(m_event.get());
    short what = m_connected ? EV_READ : EV_WRITE;
    if (!m_outgoing.empty()) what |= EV_WRITE;
    if (!m_failure.empty()) what = 0;
    CHECK(event_assign(m_event.get(), m_base, what ? m_fd : -1, what, OnEvent, this) == 0);
    const timeval when{m_patience / 1000, (m_patience % 1000) * 1000};
    event_add(m_event.get(), m_patience > 0 ? &when : nullptr);
}

void LineSocket::FinishConnect()
{
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(m_fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) return End(SystemErrorText(error));
    m_connected = true;
    if (Write()) Arm();
}

/** False: it has ended. */
bool LineSocket::Write()
{
    while (!m_outgoing.empty()) {
        const ssize_t size =
            ::send(m_fd, m_outgoing.data(), m_outgoing.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
        if (size <= 0) {
            End(SystemErrorText(errno));
            return false;
        }
        m_outgoing.erase(0, static_cast<size_t>(size));
    }
    return true;
}

// Reads one line at a time and not beyond it, because later bytes may be for other code.
void LineSocket::Read()
{
    char bytes[4096];
    const ssize_t size = ::recv(m_fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Arm();
    if (size <= 0) return End(size == 0 ? "connection closed" : SystemErrorText(errno));
    const std::string_view seen(bytes, static_cast<size_t>(size));
    const size_t end = seen.find('\n');
    const size_t taken = end == std::string_view::npos ? seen.size() : end + 1;
    if (::recv(m_fd, bytes, taken, MSG_DONTWAIT) != static_cast<ssize_t>(taken)) {
        return End("connection closed");
    }
    m_line += seen.substr(0, end);
    if (m_line.size() > m_longest_line) return End("line too long");
    Arm();
    if (end == std::string_view::npos) return;
    if (m_line.ends_with('\r')) m_line.pop_back();
    const OnLine tell = m_on_line; // the callback may destroy this
    tell(std::exchange(m_line, {}));
}

void LineSocket::Send(std::string_view text)
{
    m_outgoing += text;
    if (m_fd >= 0 && m_failure.empty()) Arm();
}

void LineSocket::ExpectWithin(int64_t milliseconds)
{
    m_patience = milliseconds;
    if (m_fd >= 0 && m_failure.empty()) Arm();
}

int LineSocket::Release()
{
    event_del(m_event.get());
    return std::exchange(m_fd, -1);
}

// The owner may destroy this object, and a text in it.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void LineSocket::End(std::string why)
{
    event_del(m_event.get());
    if (m_fd >= 0) ::close(std::exchange(m_fd, -1));
    const OnEnd tell = m_on_end;
    tell(why);
}

} // namespace ibd
