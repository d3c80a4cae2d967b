// See http_connection.h.
#include "jsonrpc/http_connection.h"
#include "util/check.h"
#include "util/strings.h"

#include <ctime>
#include <utility>

#include <event2/buffer.h>

namespace ibd {

namespace {

constexpr size_t kMostAtOnce = 256 * 1024; //!< bytes per call of write(2)
constexpr int kBadRequest = 400;
constexpr int kTooLarge = 413;
constexpr int kUnavailable = 503;
constexpr int kNoContent = 204;

const char* StatusText(int status)
{
    switch (status) {
    case 200: return "OK";
    case kNoContent: return "No Content";
    case kBadRequest: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case kTooLarge: return "Content too large";
    case 500: return "Internal Server Error";
    case kUnavailable: return "Service Unavailable";
    default: return "";
    }
}

/** "Sat, 21 Nov 2026 21:00:00 GMT", in any locale. */
std::string HttpDate(int64_t unix_seconds)
{
    constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto seconds = static_cast<std::time_t>(unix_seconds);
    std::tm utc = {};
    if (gmtime_r(&seconds, &utc) == nullptr) return {};
    return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday,
                       kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min,
                       utc.tm_sec);
}

/** Texts of at least this size are handed to the socket without a copy. */
constexpr size_t kWorthNoCopy = 16 * 1024;

/** Adds the bytes to those to be sent. */
template <typename Owner>
void AddOwned(evbuffer* output, Owner bytes)
{
    if (bytes.size() < kWorthNoCopy) {
        CHECK(evbuffer_add(output, bytes.data(), bytes.size()) == 0);
        return;
    }
    auto owner = std::make_unique<Owner>(std::move(bytes));
    const auto release = [](const void*, size_t, void* owned) {
        const std::unique_ptr<Owner> ends(static_cast<Owner*>(owned));
    };
    CHECK(evbuffer_add_reference(output, owner->data(), owner->size(), release, owner.get()) == 0);
    (void)owner.release();
}

/** Length of the whole body; nothing: not known before it is sent. */
std::optional<uint64_t> SizeOf(const HttpResponse& response)
{
    const uint64_t size = response.body.size() + response.data.size();
    if (!response.rest) return size;
    const auto rest = response.rest->Size();
    return rest ? std::optional(size + *rest) : std::nullopt;
}

bool HeaderIs(const HttpMessage& message, std::string_view name, std::string_view value)
{
    const std::string* found = message.Header(name);
    return found != nullptr && EqualNoCase(*found, value);
}

} // namespace

HttpConnection::HttpConnection(HttpConnectionOwner& owner, Logger& logger, event_base* base,
                               evutil_socket_t fd, uint64_t id, std::string host, std::string peer,
                               int timeout_seconds)
    : m_owner(owner), m_logger(logger), m_id(id), m_host(std::move(host)), m_peer(std::move(peer)),
      m_socket(bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE)),
      m_head_timer(evtimer_new(base, OnHeadTimeout, this)), m_timeout{timeout_seconds, 0}
{
    CHECK(m_socket != nullptr && m_head_timer != nullptr);
    bufferevent_setcb(m_socket, OnRead, OnWritten, OnEvent, this);
    bufferevent_setwatermark(m_socket, EV_READ, 0, kReadAhead);
    bufferevent_set_max_single_write(m_socket, kMostAtOnce);
    bufferevent_set_max_single_read(m_socket, kReadAhead);
    if (timeout_seconds > 0) bufferevent_set_timeouts(m_socket, &m_timeout, &m_timeout);
    bufferevent_enable(m_socket, EV_READ | EV_WRITE);
}

HttpConnection::~HttpConnection()
{
    (void)CountBody(0);
    event_free(m_head_timer);
    bufferevent_free(m_socket);
}

void HttpConnection::OnRead(bufferevent*, void* self)
{
    static_cast<HttpConnection*>(self)->Read();
}

void HttpConnection::OnHeadTimeout(evutil_socket_t, short, void* self)
{
    static_cast<HttpConnection*>(self)->Close("HTTP client idle timeout");
}

void HttpConnection::OnWritten(bufferevent*, void* self)
{
    static_cast<HttpConnection*>(self)->Written();
}

/** The kernel has taken all bytes of the answer that were ready. */
void HttpConnection::Written()
{
    if (m_state != State::kWriting) return;
    if (m_rest) return m_owner.OnPieceWanted(*this);
    if (!m_keep || m_is_last) return Close("Disconnecting HTTP client");
    m_state = State::kReading;
    m_parser.Reset();
    if (m_timeout.tv_sec > 0) bufferevent_set_timeouts(m_socket, &m_timeout, &m_timeout);
    Read();
}

void HttpConnection::OnEvent(bufferevent*, short what, void* self)
{
    auto* const c = static_cast<HttpConnection*>(self);
    if ((what & BEV_EVENT_TIMEOUT) != 0) return c->Close("HTTP client idle timeout");
    if ((what & BEV_EVENT_ERROR) != 0) return c->Close("Permanent read error");
    // The client sends no more; it may still wait for an answer.
    c->m_peer_done = true;
    if (c->m_state == State::kReading) c->Close("Received EOF");
}

void HttpConnection::Read()
{
    evbuffer* const input = bufferevent_get_input(m_socket);
    m_last_used = std::chrono::steady_clock::now();
    while (m_state == State::kReading && evbuffer_get_length(input) > 0) {
        evbuffer_iovec piece = {};
        CHECK(evbuffer_peek(input, -1, nullptr, &piece, 1) > 0);
        std::string_view bytes(static_cast<const char*>(piece.iov_base), piece.iov_len);
        const HttpParser::Status status = m_parser.Parse(bytes);
        evbuffer_drain(input, piece.iov_len - bytes.size());
        Take(status);
    }
    if (m_state == State::kReading && m_peer_done) Close("Received EOF");
}

void HttpConnection::Take(HttpParser::Status status)
{
    WatchHead();
    if (!CountBody(m_parser.Message().body.size())) return RefuseBody();
    switch (status) {
    case HttpParser::Status::kNeedMore: return;
    case HttpParser::Status::kTooLarge:
        m_logger.Debug(LogCategory::kHttp, "HTTP request body too large from client {} (id={}): {}",
                       m_peer, m_id, m_parser.Reason());
        return Refuse(kTooLarge);
    case HttpParser::Status::kBad:
        m_logger.Debug(LogCategory::kHttp, "Error reading HTTP request from client {} (id={}): {}",
                       m_peer, m_id, EscapeControl(m_parser.Reason()));
        return Refuse(kBadRequest);
    case HttpParser::Status::kComplete: break;
    }
    m_state = State::kAnswering;
    // The duration of a call does not count as a pause of the client.
    if (m_timeout.tv_sec > 0) bufferevent_set_timeouts(m_socket, nullptr, &m_timeout);
    m_owner.OnRequest(*this);
}

void HttpConnection::WatchHead()
{
    const bool runs = evtimer_pending(m_head_timer, nullptr) != 0;
    const bool wanted = !m_parser.HasHeaders() && !m_parser.IsAtStart() && m_timeout.tv_sec > 0;
    if (wanted && !runs) evtimer_add(m_head_timer, &m_timeout);
    if (!wanted && runs) evtimer_del(m_head_timer);
}

bool HttpConnection::CountBody(size_t bytes)
{
    const size_t before = std::exchange(m_body_counted, bytes);
    if (before == 0) m_body_since = m_last_used;
    if (bytes < before) m_owner.OnBodyFreed(before - bytes);
    return bytes <= before || m_owner.OnBodyGrown(*this, bytes - before);
}

void HttpConnection::RefuseBody()
{
    m_logger.Warning("HTTP request from {} refused: the bodies of requests under way take too much "
                     "memory",
                     m_peer);
    Refuse(kUnavailable);
}

std::string HttpConnection::TakeBody()
{
    m_body_counted = 0;
    return std::move(m_parser.Message().body);
}

// Bytes after such a request have no meaning.
void HttpConnection::Refuse(int status)
{
    evtimer_del(m_head_timer);
    m_state = State::kAnswering;
    m_is_last = true;
    Reply({status});
}

std::string HttpConnection::Head(const HttpResponse& response)
{
    const HttpMessage& request = m_parser.Message();
    const bool has_body = response.status != kNoContent;
    const bool is_version_1_0 = request.minor_version == 0;
    std::string head = fmt::format("HTTP/1.{} {} {}\r\n", request.minor_version, response.status,
                                   StatusText(response.status));
    if (response.ask_for_login) head += "WWW-Authenticate: Basic realm=\"jsonrpc\"\r\n";
    if (!response.content_type.empty()) {
        head += "Content-Type: " + response.content_type + "\r\n";
    }
    const std::optional<uint64_t> size = SizeOf(response);
    // In HTTP/1.0 a body of unknown size ends with the connection.
    m_keep = !is_version_1_0 || (size && HeaderIs(request, "Connection", "keep-alive"));
    if (is_version_1_0 && m_keep) head += "Connection: keep-alive\r\n";
    if (!is_version_1_0) head += "Date: " + HttpDate(m_owner.Now()) + "\r\n";
    m_chunked = !size && !is_version_1_0;
    if (has_body && m_keep && size) head += fmt::format("Content-Length: {}\r\n", *size);
    if (m_chunked) head += "Transfer-Encoding: chunked\r\n";
    if (has_body && response.content_type.empty()) {
        head += "Content-Type: text/html; charset=ISO-8859-1\r\n";
    }
    if (HeaderIs(request, "Connection", "close")) {
        head += "Connection: close\r\n";
        m_keep = false;
    }
    return head + "\r\n";
}

void HttpConnection::Reply(HttpResponse response)
{
    CHECK(m_state == State::kAnswering);
    m_parser.Message().body = {};
    (void)CountBody(0);
    m_state = State::kWriting;
    const std::string head = Head(response);
    m_rest = std::move(response.rest);
    m_logger.Debug(LogCategory::kHttp,
                   "HTTPResponse (status code: {} size: {}) added to send buffer for client {} "
                   "(id={})",
                   response.status, head.size() + response.body.size() + response.data.size(),
                   m_peer, m_id);
    evbuffer* const output = bufferevent_get_output(m_socket);
    CHECK(evbuffer_add(output, head.data(), head.size()) == 0);
    if (m_chunked) return SendChunk(std::move(response.body));
    AddOwned(output, std::move(response.body));
    AddOwned(output, std::move(response.data));
}

void HttpConnection::SendPiece(std::string piece, bool is_last)
{
    CHECK(m_state == State::kWriting && m_rest);
    if (is_last) m_rest = nullptr;
    evbuffer* const output = bufferevent_get_output(m_socket);
    m_chunked ? SendChunk(std::move(piece)) : AddOwned(output, std::move(piece));
    if (evbuffer_get_length(output) == 0) Written(); // an empty last piece
}

/** An empty chunk would end the body, which only the last piece may. */
void HttpConnection::SendChunk(std::string piece)
{
    evbuffer* const output = bufferevent_get_output(m_socket);
    if (!piece.empty()) {
        evbuffer_add_printf(output, "%zx\r\n", piece.size());
        AddOwned(output, std::move(piece));
        evbuffer_add_printf(output, "\r\n");
    }
    if (!m_rest) evbuffer_add_printf(output, "0\r\n\r\n");
}

void HttpConnection::CloseSoon()
{
    m_is_last = true;
    if (m_state == State::kReading) Close("Disconnecting HTTP client");
}

void HttpConnection::Close(const char* why)
{
    if (m_state == State::kClosed) return;
    m_logger.Debug(LogCategory::kHttp, "{} {} (id={})", why, m_peer, m_id);
    m_state = State::kClosed;
    bufferevent_disable(m_socket, EV_READ | EV_WRITE);
    evtimer_del(m_head_timer);
    m_owner.OnClosed(*this);
}

} // namespace ibd
