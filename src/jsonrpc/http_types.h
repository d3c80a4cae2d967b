// HTTP requests and answers, and the options of the server.
#pragma once

#include "util/bytes.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibd {

struct HttpRequest {
    std::string method; //!< "GET", "POST", "HEAD" or "PUT"
    std::string uri;    //!< path and query
    std::string body;
    std::string peer; //!< "127.0.0.1:50000"
    std::optional<std::string> authorization;
};

/** The body of a long answer, made piece by piece while it is sent, so that it is never in memory
 *  as a whole. */
class HttpBody {
public:
    virtual ~HttpBody() = default;
    /** Appends the next bytes, some kilobytes; false: these were the last. Runs on a worker, one
     *  call at a time. */
    virtual bool Append(std::string& out) = 0;
    /** Bytes of the pieces that follow, where this is known. */
    virtual std::optional<uint64_t> Size() const { return std::nullopt; }
};

struct HttpResponse {
    int status = 200;
    std::string body = {};
    std::string content_type = {};      //!< empty: no such header, for which HTTP defines a default
    bool ask_for_login = false;         //!< adds WWW-Authenticate
    std::chrono::milliseconds delay{0}; //!< delay before the answer is sent; occupies no worker
    Bytes data = {};                    //!< replaces `body`; is sent without a copy
    std::shared_ptr<HttpBody> rest = {}; //!< after `body`
};

struct HttpServerOptions {
    struct Address {
        std::string host; //!< numeric
        uint16_t port;
    };
    std::vector<Address> bind;
    /** Whether a host (numeric) may connect; others are answered with 403. Default: none. */
    std::function<bool(const std::string& host)> allowed = [](const auto&) { return false; };
    int threads = 16;         //!< workers, at least 1
    int work_queue = 64;      //!< requests waiting for a worker, at least 1
    int timeout_seconds = 30; //!< for a client's pause within a request or between two; 0: none
    size_t max_connections = 1024;      //!< above it the connection idle for longest is closed
    size_t max_body_bytes = 256u << 20; //!< bytes of all requests being read, waiting or executing
    /** A body in pieces (HttpBody) up to this size is sent as one, with its length. A longer text
     *  is made in pieces of about this size, each after the kernel has taken the previous one. */
    size_t piece_bytes = 1u << 20;
};

/** Answers on a worker's thread. */
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

} // namespace ibd
