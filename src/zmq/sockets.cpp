// See sockets.h.
#include "zmq/sockets.h"
#include "util/check.h"

#include <zmq.h>

namespace ibd {

namespace {

Result<> SetOption(void* socket, int option, int value, const char* name)
{
    if (zmq_setsockopt(socket, option, &value, sizeof value) == 0) return {};
    return SystemError("Unable to set {} to {}: {}", name, value, zmq_strerror(zmq_errno()));
}

/** Repeats a call that a signal interrupted: otherwise a partial message would be continued by the
 *  next one. */
template <typename Call>
int Uninterrupted(Call call)
{
    int result = call();
    while (result < 0 && zmq_errno() == EINTR) result = call();
    return result;
}

/** "tcp://[::1]:28332"; names that resolve to such addresses count as IPv4, as in Core. */
bool IsIpv6(const std::string& address) { return address.starts_with("tcp://["); }

} // namespace

void ZmqSockets::Close::operator()(void* socket) const
{
    const int no_wait = 0; // time for subscribers to receive queued messages
    CHECK(zmq_setsockopt(socket, ZMQ_LINGER, &no_wait, sizeof no_wait) == 0);
    CHECK(zmq_close(socket) == 0);
}

ZmqSockets::ZmqSockets() : m_context(zmq_ctx_new()) { CHECK(m_context != nullptr); }

ZmqSockets::~ZmqSockets()
{
    m_sockets.clear();
    CHECK(Uninterrupted([&] { return zmq_ctx_term(m_context); }) == 0);
}

Result<> ZmqSockets::Open(const std::string& address, int high_water_mark)
{
    if (m_sockets.contains(address)) return {};
    Socket socket(zmq_socket(m_context, ZMQ_PUB));
    if (!socket) return SystemError("Failed to create socket: {}", zmq_strerror(zmq_errno()));
    IBD_RETURN_IF_ERROR(
        SetOption(socket.get(), ZMQ_SNDHWM, high_water_mark, "the high-water mark"));
    IBD_RETURN_IF_ERROR(SetOption(socket.get(), ZMQ_TCP_KEEPALIVE, 1, "ZMQ_TCP_KEEPALIVE"));
    IBD_RETURN_IF_ERROR(SetOption(socket.get(), ZMQ_IPV6, IsIpv6(address) ? 1 : 0, "ZMQ_IPV6"));
    if (zmq_bind(socket.get(), address.c_str()) != 0) {
        return SystemError("Failed to bind address {}: {}", address, zmq_strerror(zmq_errno()));
    }
    m_sockets.emplace(address, std::move(socket));
    return {};
}

Result<> ZmqSockets::Send(const std::string& address, std::span<const ByteSpan> parts)
{
    const auto found = m_sockets.find(address);
    CHECK(found != m_sockets.end());
    for (size_t i = 0; i < parts.size(); ++i) {
        const int flags = i + 1 < parts.size() ? ZMQ_SNDMORE : 0;
        const ByteSpan part = parts[i];
        const auto send = [&] {
            return zmq_send(found->second.get(), part.data(), part.size(), flags);
        };
        if (Uninterrupted(send) >= 0) continue;
        return SystemError("Unable to send message to {}: {}", address, zmq_strerror(zmq_errno()));
    }
    return {};
}

} // namespace ibd
