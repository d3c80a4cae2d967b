// See http_client.h.
#include "cli/http_client.h"
#include "util/base64.h"
#include "util/strings.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ibd {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kVeryLong = std::chrono::hours(5 * 365 * 24);
constexpr std::string_view kHeadEnd = "\r\n\r\n";

struct AddressesFree {
    void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

class Socket {
public:
    explicit Socket(int fd) : m_fd(fd) {}
    ~Socket()
    {
        if (m_fd >= 0) ::close(m_fd);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int Fd() const { return m_fd; }

    /** Waits for POLLIN or POLLOUT; false: timed out. */
    bool Wait(short events, Clock::time_point end) const
    {
        for (;;) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
            if (left.count() <= 0) return false;
            constexpr int64_t kMost = 3'600'000;
            pollfd entry{m_fd, events, 0};
            const int n =
                ::poll(&entry, 1, static_cast<int>(std::min<int64_t>(left.count(), kMost)));
            if (n > 0) return true;
            if (n < 0 && errno != EINTR) return false;
        }
    }

private:
    int m_fd;
};

std::string SystemText(int error) { return fmt::format("{} ({})", std::strerror(error), error); }

/** Null: timed out, or refused. */
std::unique_ptr<Socket> Connect(const addrinfo& address, Clock::time_point end)
{
    auto socket = std::make_unique<Socket>(
        ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket->Fd() < 0) return nullptr;
    const int on = 1;
    (void)::setsockopt(socket->Fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(socket->Fd(), address.ai_addr, address.ai_addrlen) == 0) return socket;
    if (errno != EINPROGRESS || !socket->Wait(POLLOUT, end)) return nullptr;
    int error = 0;
    socklen_t size = sizeof error;
    (void)::getsockopt(socket->Fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    return error == 0 ? std::move(socket) : nullptr;
}

bool Send(const Socket& socket, std::string_view bytes, Clock::time_point end)
{
    while (!bytes.empty()) {
        if (!socket.Wait(POLLOUT, end)) return false;
        const ssize_t n = ::send(socket.Fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
        if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    }
    return true;
}

/** The value of a header in an answer's head, which is in lower case. */
std::optional<std::string> Header(std::string_view head, std::string_view name)
{
    const std::string lower = ToLower(head);
    const size_t at = lower.find("\n" + std::string(name) + ":");
    if (at == std::string::npos) return std::nullopt;
    const size_t begin = at + name.size() + 2;
    return std::string(
        Trim(std::string_view(lower).substr(begin, lower.find('\n', begin) - begin)));
}

/** Joins a chunked body as it arrives, in linear time. */
class ChunkedBody {
public:
    /** `body`: all bytes so far. Returns whether it has ended, after the last chunk and the trailer
     *  with its empty line. An error if it is malformed. */
    Result<bool> Read(std::string_view body);
    std::string&& Joined() && { return std::move(m_joined); }

private:
    size_t m_at = 0; //!< start of the next chunk's size line
    std::string m_joined;
};

Result<bool> ChunkedBody::Read(std::string_view body)
{
    for (;;) {
        const size_t end = body.find("\r\n", m_at);
        if (end == std::string_view::npos) return false;
        const std::string_view line = body.substr(m_at, end - m_at);
        const std::string_view text = Trim(line.substr(0, line.find(';')));
        uint64_t size = 0;
        const auto [last, error] =
            std::from_chars(text.data(), text.data() + text.size(), size, 16);
        if (error != std::errc() || last != text.data() + text.size()) {
            return BadData("HTTP error: Invalid chunk size");
        }
        // The empty line directly follows this one, or the trailer.
        if (size == 0) return body.find(kHeadEnd, end) != std::string_view::npos;
        const std::string_view rest = body.substr(end + 2);
        if (rest.size() < 2 || size > rest.size() - 2) return false;
        m_joined.append(rest.substr(0, size));
        m_at = end + 2 + size + 2;
    }
}

bool IsChunked(std::string_view head)
{
    const auto coding = Header(head, "transfer-encoding");
    return coding && coding->find("chunked") != std::string::npos;
}

/** Detects the end of an answer, so that a kept connection causes no wait. */
class AnswerEnd {
public:
    /** `bytes`: all bytes so far. An answer without a length ends with the connection. */
    bool Reached(std::string_view bytes);

private:
    ChunkedBody m_chunks;
};

bool AnswerEnd::Reached(std::string_view bytes)
{
    const size_t end = bytes.find(kHeadEnd);
    if (end == std::string_view::npos) return false;
    const std::string_view head = bytes.substr(0, end);
    const std::string_view body = bytes.substr(end + kHeadEnd.size());
    if (IsChunked(head)) {
        const auto ended = m_chunks.Read(body);
        return !ended.Ok() || *ended;
    }
    const auto length = Header(head, "content-length");
    if (!length) return false;
    const auto size = ParseInteger<uint64_t>(*length);
    return !size || body.size() >= *size;
}

/** Empty, or the reason why no answer came. */
std::string Receive(const Socket& socket, std::string& bytes, Clock::time_point end)
{
    constexpr size_t kAtOnce = 64 * 1024;
    AnswerEnd answer_end;
    while (!answer_end.Reached(bytes)) {
        if (!socket.Wait(POLLIN, end)) return "timeout";
        const size_t before = bytes.size();
        bytes.resize(before + kAtOnce);
        const ssize_t n = ::recv(socket.Fd(), bytes.data() + before, kAtOnce, 0);
        bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
        if (n == 0) return bytes.find(kHeadEnd) == std::string::npos ? "EOF" : "";
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return "Read error: " + SystemText(errno);
        }
    }
    return {};
}

HttpAnswer Failure(std::string why) { return {0, std::move(why)}; }

} // namespace

Result<HttpAnswer> ParseHttpAnswer(std::string_view bytes)
{
    const size_t end = bytes.find(kHeadEnd);
    if (end == std::string_view::npos) return BadData("EOF");
    const std::string_view head = bytes.substr(0, end);
    std::string_view body = bytes.substr(end + kHeadEnd.size());
    constexpr size_t kShortest = std::string_view("HTTP/1.1 200").size();
    const size_t space = head.find(' ');
    if (head.size() < kShortest || !head.starts_with("HTTP/") || space == std::string_view::npos) {
        return BadData("HTTP error: Invalid status line");
    }
    const auto status = ParseInteger<int>(head.substr(space + 1, 3));
    if (!status) return BadData("HTTP error: Invalid status code");
    if (IsChunked(head)) {
        ChunkedBody chunks;
        IBD_ASSIGN_OR_RETURN(const bool ended, chunks.Read(body));
        if (!ended) return BadData("EOF");
        return HttpAnswer{*status, std::move(chunks).Joined()};
    }
    if (const auto length = Header(head, "content-length")) {
        const auto size = ParseInteger<uint64_t>(*length);
        if (!size) return BadData("HTTP error: Invalid Content-Length");
        if (body.size() < *size) return BadData("EOF");
        body = body.substr(0, *size);
    }
    return HttpAnswer{*status, std::string(body)};
}

HttpAnswer Post(const HttpTarget& target, const std::string& path, const std::string& body)
{
    const Clock::duration timeout =
        target.timeout_seconds > 0 ? Clock::duration(std::chrono::seconds(target.timeout_seconds))
                                   : Clock::duration(kVeryLong);
    addrinfo wanted = {};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (::getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &wanted, &list) !=
        0) {
        return Failure("Could not resolve host: " + target.host);
    }
    const std::unique_ptr<addrinfo, AddressesFree> owned(list);
    std::unique_ptr<Socket> socket;
    const auto connect_end = Clock::now() + timeout;
    for (const addrinfo* a = list; a != nullptr && !socket; a = a->ai_next) {
        socket = Connect(*a, connect_end);
    }
    if (!socket) return Failure("Could not connect to the server");
    const std::string request = fmt::format(
        "POST {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\nContent-Type: "
        "application/json\r\nAuthorization: Basic {}\r\n\r\n{}",
        path, target.host, body.size(), ToBase64(AsBytes(target.login)), body);
    if (!Send(*socket, request, Clock::now() + timeout)) {
        return Failure("Failed to send HTTP request");
    }
    std::string bytes;
    const std::string failure = Receive(*socket, bytes, Clock::now() + timeout);
    if (!failure.empty()) return Failure(failure);
    auto answer = ParseHttpAnswer(bytes);
    return answer ? *answer : Failure(answer.Message());
}

} // namespace ibd
