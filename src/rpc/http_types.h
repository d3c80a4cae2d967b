// A request and its answer, and what an HTTP server is asked to be.
#pragma once

#include "net/subnet.h"

#include <chrono>
#include <functional>
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

/** Answers on the thread of a worker. */
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

} // namespace ibd
