// HttpServer: HTTP over libevent. One thread runs the event loop; a fixed number of workers run
// the handler on requests from a bounded queue; a request beyond the queue is answered 503.
#pragma once

#include "rpc/subnet.h"
#include "util/env.h"
#include "util/log.h"

#include <functional>
#include <memory>
#include <optional>

namespace ibd {

struct HttpRequest {
    std::string method; //!< "GET", "POST", "HEAD", "PUT" or "" for others
    std::string uri;    //!< path and query
    std::string body;
    std::string peer; //!< "127.0.0.1:50000"
    std::optional<std::string> authorization;
};

struct HttpResponse {
    int status = 200;
    std::string body;
    std::string content_type = "application/json";
    bool ask_for_login = false; //!< adds WWW-Authenticate
};

struct HttpServerOptions {
    struct Address {
        std::string host; //!< numeric
        uint16_t port;
    };
    std::vector<Address> bind;
    std::vector<Subnet> allow; //!< others are answered 403
    int threads = 16;          //!< workers, at least 1
    int work_queue = 64;       //!< requests waiting for a worker
    int timeout_seconds = 30;  //!< of an idle connection
};

class HttpServer {
public:
    using Handler = std::function<HttpResponse(const HttpRequest&)>;

    /** Bytes accepted as headers and as body. */
    static constexpr size_t kMaxHeaderSize = 8192;
    static constexpr size_t kMaxBodySize = 32u << 20;

    /** Binds and starts to serve. Addresses that cannot be bound are logged; an error if that is
     *  all of them. `handler` runs on worker threads. */
    static Result<std::unique_ptr<HttpServer>>
    Start(Logger& logger, const HttpServerOptions& options, Handler handler);
    /** Refuses new requests, finishes those accepted and sends their answers. */
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /** From now on new requests are answered 503. */
    void Interrupt();

private:
    struct State;
    explicit HttpServer(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace ibd
