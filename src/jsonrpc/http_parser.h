// HttpParser: parses HTTP/1.x requests incrementally (RFC 9112), as strictly as Core's server.
// Owned by one connection; one thread. Memory for a request is bounded by kMaxHeaderBytes and
// kMaxBodyBytes; announced bytes are not allocated before they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ibd {

/** Whether both are equal, ignoring the case of ASCII letters. */
bool EqualNoCase(std::string_view a, std::string_view b);

struct HttpMessage {
    std::string method; //!< any token
    std::string target;
    int minor_version = 1; //!< of HTTP/1.x
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;

    /** The first header with that name, ignoring case; null if there is none. */
    const std::string* Header(std::string_view name) const;
};

class HttpParser {
public:
    enum class Status {
        kNeedMore,
        kComplete, //!< Message() is a whole request
        kBad,      //!< not HTTP; Reason() explains it; the rest of the stream is meaningless
        kTooLarge, //!< the announced body exceeds kMaxBodyBytes
    };

    /** Limit for the request line with all headers, for a single line, and for a chunked body's
     *  trailer. */
    static constexpr size_t kMaxHeaderBytes = 8192;
    static constexpr size_t kMaxBodyBytes = 32u << 20;

    /** Consumes the bytes of the current request from the front of `bytes`. After kComplete call
     *  Reset(); after kBad and kTooLarge, call nothing more. */
    Status Parse(std::string_view& bytes);
    /** The request as far as it is parsed. */
    HttpMessage& Message() { return m_message; }
    const HttpMessage& Message() const { return m_message; }
    const std::string& Reason() const { return m_reason; }
    /** Whether no byte of a request has arrived yet. */
    bool IsAtStart() const { return m_state == State::kRequestLine && m_line.empty(); }
    /** Whether request line and headers are parsed. */
    bool HasHeaders() const { return m_state > State::kHeader; }
    /** Starts the next request. */
    void Reset();

private:
    enum class State {
        kRequestLine,
        kHeader,
        kBody,
        kChunkSize,
        kChunk,
        kChunkEnd,
        kTrailer,
        kDone
    };

    /** kComplete: m_line is a whole line without its end. */
    Status TakeLine(std::string_view& bytes);
    Status TakeLineOf(State state, std::string_view line);
    Status ReadRequestLine(std::string_view line);
    Status ReadVersion(std::string_view version);
    Status ReadHeader(std::string_view line);
    Status BeginBody();
    Status BeginChunk(std::string_view line);
    Status Go(State next)
    {
        m_state = next;
        return next == State::kDone ? Status::kComplete : Status::kNeedMore;
    }
    Status Fail(const char* reason);

    State m_state = State::kRequestLine;
    HttpMessage m_message;
    std::string m_line;       //!< received part of a line
    size_t m_consumed = 0;    //!< bytes of the lines of this request's head, or of its trailer
    uint64_t m_body_left = 0; //!< of the current body or chunk
    std::string m_reason;
};

} // namespace ibd
