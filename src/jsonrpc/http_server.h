// HttpServer: HTTP/1.x over libevent's sockets. One thread runs the event loop; a fixed number of
// workers run the handler on requests from a bounded queue; requests beyond the queue are answered
// with 503. http_parser parses requests, http_connection keeps the state of a client.
#pragma once

#include "jsonrpc/http_types.h"
#include "util/env.h"
#include "util/log.h"

#include <memory>

namespace ibd {

class HttpServer {
public:
    using Handler = HttpHandler;

    /** Binds and starts to serve. Addresses that cannot be bound are logged; an error if none can.
     *  `handler` runs on worker threads. */
    static Result<std::unique_ptr<HttpServer>>
    Start(Env& env, Logger& logger, const HttpServerOptions& options, Handler handler);
    /** Refuses new requests, finishes accepted ones and sends their answers. Answers in pieces are
     *  cut off. */
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /** From now on new requests are answered with 503. */
    void Interrupt();

private:
    class Impl;
    explicit HttpServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace ibd
