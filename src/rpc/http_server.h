// HttpServer: HTTP/1.x over libevent's sockets. One thread runs the event loop; a fixed number of
// workers run the handler on requests from a bounded queue; a request beyond the queue is
// answered 503. Framing is http_parser's, a client's state http_connection's.
#pragma once

#include "rpc/http_types.h"
#include "util/env.h"
#include "util/log.h"

#include <memory>

namespace ibd {

class HttpServer {
public:
    using Handler = HttpHandler;

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
