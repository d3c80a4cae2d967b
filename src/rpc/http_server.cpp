// See http_server.h.
#include "rpc/http_server.h"
#include "util/threads.h"

#include <algorithm>
#include <chrono>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/thread.h>

namespace ibd {

namespace {

constexpr int kStopSeconds = 10; //!< most time that closing waits for answers to be sent

struct EventBaseFree {
    void operator()(event_base* base) const { event_base_free(base); }
};
struct HttpFree {
    void operator()(evhttp* http) const { evhttp_free(http); }
};

std::string MethodName(evhttp_request* request)
{
    switch (evhttp_request_get_command(request)) {
    case EVHTTP_REQ_GET: return "GET";
    case EVHTTP_REQ_POST: return "POST";
    case EVHTTP_REQ_HEAD: return "HEAD";
    case EVHTTP_REQ_PUT: return "PUT";
    default: return "";
    }
}

} // namespace

struct HttpServer::State {
    struct Job {
        evhttp_request* request;
        HttpRequest parsed;
    };
    struct Answer {
        State* state;
        evhttp_request* request;
        HttpResponse response;
    };

    State(Logger& log, const HttpServerOptions& o, Handler h)
        : logger(log), options(o), handler(std::move(h)),
          queue(static_cast<size_t>(std::max(o.work_queue, 1)))
    {
    }

    void Accept(evhttp_request* request);
    void Work();
    void Send(evhttp_request* request, const HttpResponse& response);
    void CountDown();
    bool Allowed(const std::string& host) const;

    Logger& logger;
    const HttpServerOptions options;
    const Handler handler;
    // Order matters: the threads stop before the loop's objects go.
    std::unique_ptr<event_base, EventBaseFree> base;
    std::unique_ptr<evhttp, HttpFree> http;
    BoundedQueue<Job> queue; //!< each counts as one
    std::atomic<bool> interrupted{false};
    std::mutex mutex;
    std::condition_variable done;
    int open_requests = 0; //!< accepted, answer not yet written out
    std::vector<NamedThread> workers;
    NamedThread loop;
};

bool HttpServer::State::Allowed(const std::string& host) const
{
    const auto ip = ParseIp(host);
    if (!ip) return false;
    return std::any_of(options.allow.begin(), options.allow.end(),
                       [&](const Subnet& s) { return s.Contains(*ip); });
}

void HttpServer::State::CountDown()
{
    const std::lock_guard lock(mutex);
    --open_requests;
    done.notify_all();
}

// On the loop's thread.
void HttpServer::State::Accept(evhttp_request* request)
{
    Job job{request, {}};
    char* host = nullptr;
    uint16_t port = 0;
    if (evhttp_connection* connection = evhttp_request_get_connection(request)) {
        evhttp_connection_get_peer(connection, &host, &port);
    }
    const std::string host_name = host == nullptr ? "" : host;
    job.parsed.peer = fmt::format("{}:{}", host_name, port);
    job.parsed.method = MethodName(request);
    job.parsed.uri = evhttp_request_get_uri(request);
    {
        const std::lock_guard lock(mutex);
        ++open_requests;
    }
    if (!Allowed(host_name)) {
        logger.Debug(LogCategory::kHttp, "request from {} refused by -rpcallowip", job.parsed.peer);
        return Send(request, {403, "", "text/plain", false});
    }
    if (job.parsed.method.empty()) return Send(request, {405, "", "text/plain", false});
    logger.Debug(LogCategory::kHttp, "{} {} from {}", job.parsed.method,
                 job.parsed.uri.substr(0, 100), job.parsed.peer);
    const evkeyvalq* headers = evhttp_request_get_input_headers(request);
    if (const char* value = evhttp_find_header(headers, "Authorization")) {
        job.parsed.authorization = value;
    }
    evbuffer* input = evhttp_request_get_input_buffer(request);
    job.parsed.body.resize(evbuffer_get_length(input));
    evbuffer_remove(input, job.parsed.body.data(), job.parsed.body.size());
    if (interrupted || !queue.TryPush(std::move(job), 1)) {
        if (!interrupted) logger.Warning("more RPC requests than -rpcworkqueue holds: one refused");
        Send(request, {503, "Work queue depth exceeded", "text/plain", false});
    }
}

// On the loop's thread.
void HttpServer::State::Send(evhttp_request* request, const HttpResponse& response)
{
    evkeyvalq* headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Content-Type", response.content_type.c_str());
    if (response.ask_for_login) {
        evhttp_add_header(headers, "WWW-Authenticate", "Basic realm=\"jsonrpc\"");
    }
    if (interrupted) evhttp_add_header(headers, "Connection", "close");
    evbuffer* output = evhttp_request_get_output_buffer(request);
    evbuffer_add(output, response.body.data(), response.body.size());
    if (evhttp_request_get_connection(request) == nullptr) {
        CountDown(); // the client left; libevent only frees the request
    } else {
        evhttp_request_set_on_complete_cb(
            request, [](evhttp_request*, void* self) { static_cast<State*>(self)->CountDown(); },
            this);
    }
    evhttp_send_reply(request, response.status, nullptr, nullptr);
}

void HttpServer::State::Work()
{
    while (auto job = queue.Pop()) {
        auto* answer = new Answer{this, job->request, handler(job->parsed)};
        const auto send = [](evutil_socket_t, short, void* arg) {
            const std::unique_ptr<Answer> owned(static_cast<Answer*>(arg));
            owned->state->Send(owned->request, owned->response);
        };
        const timeval now{0, 0};
        event_base_once(base.get(), -1, EV_TIMEOUT, send, answer, &now);
    }
}

HttpServer::HttpServer(std::unique_ptr<State> state) : m_state(std::move(state)) {}

Result<std::unique_ptr<HttpServer>>
HttpServer::Start(Logger& logger, const HttpServerOptions& options, Handler handler)
{
    evthread_use_pthreads();
    auto state = std::make_unique<State>(logger, options, std::move(handler));
    state->base.reset(event_base_new());
    if (state->base) state->http.reset(evhttp_new(state->base.get()));
    if (!state->http) return SystemError("cannot set up the HTTP server");
    evhttp* http = state->http.get();
    evhttp_set_timeout(http, options.timeout_seconds);
    evhttp_set_max_headers_size(http, kMaxHeaderSize);
    evhttp_set_max_body_size(http, kMaxBodySize);
    evhttp_set_gencb(
        http, [](evhttp_request* r, void* self) { static_cast<State*>(self)->Accept(r); },
        state.get());
    int bound = 0;
    std::string failures;
    for (const auto& address : options.bind) {
        if (evhttp_bind_socket(http, address.host.c_str(), address.port) == 0) {
            ++bound;
        } else {
            failures += fmt::format("; {} port {}: {}", address.host, address.port,
                                    evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
            logger.Warning("cannot serve RPC at {} port {}", address.host, address.port);
        }
    }
    if (bound == 0) return SystemError("cannot bind any address for the RPC server{}", failures);

    State* raw = state.get();
    for (int i = 0; i < std::max(options.threads, 1); ++i) {
        state->workers.emplace_back(fmt::format("httpworker.{}", i), [raw] { raw->Work(); });
    }
    state->loop = NamedThread("http", [raw] { event_base_dispatch(raw->base.get()); });
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

void HttpServer::Interrupt() { m_state->interrupted = true; }

HttpServer::~HttpServer()
{
    Interrupt();
    m_state->queue.Close();
    m_state->workers.clear();
    {
        std::unique_lock lock(m_state->mutex);
        m_state->done.wait_for(lock, std::chrono::seconds(kStopSeconds),
                               [&] { return m_state->open_requests == 0; });
    }
    // From within the loop: a request to break that comes before the loop has begun is forgotten,
    // and a start that fails at once would wait for ever.
    const timeval now{0, 0};
    event_base* base = m_state->base.get();
    event_base_once(
        base, -1, EV_TIMEOUT,
        [](evutil_socket_t, short, void* b) { event_base_loopbreak(static_cast<event_base*>(b)); },
        base, &now);
    m_state->loop.Join();
}

} // namespace ibd
