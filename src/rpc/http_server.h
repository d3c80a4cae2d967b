// HttpServer: HTTP/1.x over libevent's sockets. One thread runs the event loop; a fixed number of
// workers run the handler on requests from a bounded queue; a request beyond the queue is
// answered 503. Framing is http_parser's, a client's state http_connection's.
#pragma once

#include "net/subnet.h"
#include "util/env.h"
#include "util/log.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace ibd {

struct HttpRequest {
    std::string method; //!< "GET", "POST", "HEAD" or "PUT"
    std::string uri;    //!< path and query
    std::string body;
    std::string peer; //!< "127.0.0.1:50000"
    std::optional<std::string> authorization;
};

struct HttpResponse {
    int status = 200;
    std::string body = {};
    std::string content_type = {};      //!< empty: none is told, which HTTP gives a default
    bool ask_for_login = false;         //!< adds WWW-Authenticate
    std::chrono::milliseconds delay{0}; //!< until it is sent; holds no worker up
};

struct HttpServerOptions {
    struct Address {
        std::string host; //!< numeric
        uint16_t port;
    };
    std::vector<Address> bind;
    std::vector<Subnet> allow;    //!< others are answered 403
    bool cjdns_reachable = false; //!< fc00::/8 is of that network
    int threads = 16;             //!< workers, at least 1
    int work_queue = 64;          //!< requests waiting for a worker, at least 1
    int timeout_seconds = 30; //!< of a client that pauses within a request or between two; 0: none
    size_t max_connections = 1024;      //!< beyond it the one that is idle for longest is closed
    size_t max_body_bytes = 256u << 20; //!< of all requests that are read, waiting or at work
};

class HttpServer {
public:
    using Handler = std::function<HttpResponse(const HttpRequest&)>;

    /** Binds and starts to serve. Addresses that cannot be bound are logged; an error if that is
     *  all of them. `handler` runs on worker threads. */
    static Result<std::unique_ptr<HttpServer>>
    Start(Env& env, Logger& logger, const HttpServerOptions& options, Handler handler);
    /** Refuses new requests, finishes those accepted and sends their answers. */
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /** From now on new requests are answered 503. */
    void Interrupt();

private:
    class Impl;
    explicit HttpServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace ibd
