// HttpConnection: one client of the HTTP server: reads consecutive requests, writes the answers in
// order, and keeps the connection open according to HTTP/1.0 and 1.1. Owned by HttpServer and used
// on its loop's thread only.
#pragma once

#include "jsonrpc/http_parser.h"
#include "jsonrpc/http_types.h"
#include "util/log.h"

#include <chrono>

#include <event2/bufferevent.h>
#include <event2/event.h>

namespace ibd {

class HttpConnection;

/** The server's interface to a connection. A call may destroy other connections, never this one. */
class HttpConnectionOwner {
public:
    virtual ~HttpConnectionOwner() = default;
    /** A whole request, to be answered by Reply(), now or later. */
    virtual void OnRequest(HttpConnection& connection) = 0;
    /** The connection is closed: destroy it soon, but not within this call. */
    virtual void OnClosed(class HttpConnection& connection) = 0;
    /** The current piece of the answer is sent: call SendPiece(), now or later. */
    virtual void OnPieceWanted(HttpConnection& connection) = 0;
    /** The body that the connection receives has grown by `bytes`. False: there is no memory for
     *  it. */
    virtual bool OnBodyGrown(const HttpConnection& connection, size_t bytes) = 0;
    /** The memory of `bytes` of request bodies is free again. */
    virtual void OnBodyFreed(size_t bytes) = 0;
    /** Seconds since 1970, for the Date header. */
    virtual int64_t Now() = 0;
};

class HttpConnection {
public:
    /** Bytes read ahead while a request is being answered. */
    static constexpr size_t kReadAhead = 64 * 1024;

    /** Takes over the socket. `timeout_seconds`: limit for a pause within a request or an answer,
     *  and for receiving a request's head; 0: no limit. */
    HttpConnection(HttpConnectionOwner& owner, Logger& logger, event_base* base, evutil_socket_t fd,
                   uint64_t id, std::string host, std::string peer, int timeout_seconds);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    uint64_t Id() const { return m_id; }
    const std::string& Host() const { return m_host; } //!< numeric
    const std::string& Peer() const { return m_peer; } //!< with port
    /** The request to be answered. */
    const HttpMessage& Request() const { return m_parser.Message(); }
    /** Its body. The caller must call OnBodyFreed() when the bytes are free. */
    std::string TakeBody();
    /** Whether a request waits for its answer, or an answer is being written. */
    bool IsBusy() const { return m_state == State::kAnswering || m_state == State::kWriting; }
    bool IsClosed() const { return m_state == State::kClosed; }
    /** The time of the last bytes from the client, or of the end of the last answer. */
    std::chrono::steady_clock::time_point LastUsed() const { return m_last_used; }
    /** Whether a body was received in part. */
    bool IsReceivingBody() const { return m_state == State::kReading && m_body_counted > 0; }
    /** Time of the body's first bytes. */
    std::chrono::steady_clock::time_point BodySince() const { return m_body_since; }
    /** Answers the request that is being received with 503, for want of memory. */
    void RefuseBody();
    void Reply(HttpResponse response);
    /** The maker of the pieces that are not sent yet; null: there are none. */
    const std::shared_ptr<HttpBody>& Rest() const { return m_rest; }
    /** The next piece of the answer. `is_last`: none follows. */
    void SendPiece(std::string piece, bool is_last);
    /** Closes at once, in the middle of an answer. */
    void Abort() { Close("Answer cut off, disconnecting HTTP client"); }
    /** Closes at once if idle, else after the current answer. */
    void CloseSoon();

private:
    enum class State { kReading, kAnswering, kWriting, kClosed };

    static void OnRead(bufferevent*, void* self);
    static void OnWritten(bufferevent*, void* self);
    static void OnEvent(bufferevent*, short what, void* self);
    static void OnHeadTimeout(evutil_socket_t, short, void* self);
    void Read();
    void Written();
    void Take(HttpParser::Status status);
    void Refuse(int status);
    bool CountBody(size_t bytes);
    void WatchHead();
    void Close(const char* why);
    std::string Head(const HttpResponse& response);
    void SendChunk(std::string piece);

    HttpConnectionOwner& m_owner;
    Logger& m_logger;
    const uint64_t m_id;
    const std::string m_host;
    const std::string m_peer;
    bufferevent* m_socket;
    event* m_head_timer; //!< runs from a request's first byte to the end of its headers
    const timeval m_timeout;
    HttpParser m_parser;
    State m_state = State::kReading;
    std::chrono::steady_clock::time_point m_last_used = std::chrono::steady_clock::now();
    size_t m_body_counted = 0; //!< bytes of the body, as the owner was informed
    std::chrono::steady_clock::time_point m_body_since;
    std::shared_ptr<HttpBody> m_rest; //!< of the current answer
    bool m_chunked = false;           //!< its pieces are chunks of HTTP/1.1
    bool m_keep = true;               //!< close after the current answer, according to its headers
    bool m_is_last = false;   //!< no further request is read
    bool m_peer_done = false; //!< the client has closed its sending side
};

} // namespace ibd
