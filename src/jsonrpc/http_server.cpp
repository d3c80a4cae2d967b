// See http_server.h.
#include "jsonrpc/http_server.h"
#include "jsonrpc/http_connection.h"
#include "util/check.h"
#include "util/strings.h"
#include "util/thread_log.h"
#include "util/thread_slices.h"
#include "util/threads.h"
#include "util/version.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <map>

#include <event2/event.h>
#include <event2/listener.h>
#include <event2/thread.h>
#include <netdb.h>
#include <netinet/tcp.h>

namespace ibd {

namespace {

constexpr int kStopSeconds = 30;       //!< most time that closing waits for answers to be sent
constexpr int kAcceptPauseSeconds = 1; //!< pause after accept() failed, for example without free
                                       //!< descriptors

struct Free {
    void operator()(event_base* base) const { event_base_free(base); }
    void operator()(addrinfo* list) const { freeaddrinfo(list); }
    void operator()(evconnlistener* listener) const { evconnlistener_free(listener); }
};

/** Host and port of a socket's peer; empty if unknown. */
std::pair<std::string, std::string> PeerName(const sockaddr* address, int length)
{
    char host[NI_MAXHOST] = "";
    char port[NI_MAXSERV] = "";
    if (getnameinfo(address, static_cast<socklen_t>(length), host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return {};
    }
    const bool is_v6 = address->sa_family == AF_INET6;
    return {host, (is_v6 ? "[" + std::string(host) + "]" : host) + ":" + port};
}

} // namespace

class HttpServer::Impl final : public HttpConnectionOwner {
public:
    Impl(Env& env, Logger& logger, const HttpServerOptions& options, Handler handler)
        : m_env(env), m_logger(logger), m_options(options), m_handler(std::move(handler)),
          m_queue(static_cast<size_t>(std::max(options.work_queue, 1)))
    {
    }
    ~Impl() override { Stop(); }

    Result<> Start();
    void Interrupt() { m_interrupted = true; }

    void OnRequest(HttpConnection& connection) override;
    void OnPieceWanted(HttpConnection& connection) override;
    void OnClosed(HttpConnection& connection) override;
    bool OnBodyGrown(const HttpConnection& connection, size_t bytes) override;
    void OnBodyFreed(size_t bytes) override { m_body_bytes -= bytes; }
    int64_t Now() override { return m_env.UnixTime(); }

private:
    /** A request to be answered, or an answer to be continued. */
    struct Job {
        uint64_t connection;
        HttpRequest request;
        std::shared_ptr<HttpBody> rest = {};
    };

    Result<> Bind(const HttpServerOptions::Address& address);
    void Stop();
    void Accept(evutil_socket_t fd, const sockaddr* address, int length);
    void AcceptFailed();
    bool MakeRoom();
    bool RefuseOlderBody(const HttpConnection& than);
    void Dispatch(HttpConnection& connection);
    void Work();
    std::optional<bool> FillPiece(HttpBody& body, std::string& piece) const;
    void MakeAnswer(const Job& job);
    void MakePiece(const Job& job);
    HttpConnection* Find(uint64_t connection);
    /** Runs `body` on the loop's thread, from any thread. */
    void Post(std::function<void()> body, std::chrono::milliseconds delay = {});
    static void RunTask(evutil_socket_t, short, void* task);
    void Drain();

    struct Task {
        Impl* server;
        std::function<void()> body;
        std::list<Task>::iterator place;
    };

    Env& m_env;
    Logger& m_logger;
    const HttpServerOptions m_options;
    const Handler m_handler;
    std::atomic<bool> m_interrupted{false};
    std::atomic<size_t> m_body_bytes{0};
    // Order matters: the threads must stop before the loop's objects are destroyed.
    std::unique_ptr<event_base, Free> m_base;
    std::vector<std::unique_ptr<evconnlistener, Free>> m_listeners;
    Mutex m_tasks_mutex;
    std::list<Task> m_tasks IBD_GUARDED_BY(m_tasks_mutex); //!< posted but not run yet
    // Used only by the loop's thread.
    std::map<uint64_t, std::unique_ptr<HttpConnection>> m_connections; //!< oldest first
    uint64_t m_next_id = 0;
    bool m_draining = false;
    BoundedQueue<Job> m_queue; //!< a new request has size 1, a continued answer 0
    std::vector<NamedThread> m_workers;
    bool m_is_running = false;
    NamedThread m_loop;
};

void HttpServer::Impl::Post(std::function<void()> body, std::chrono::milliseconds delay)
{
    Task* task = nullptr;
    {
        const Lock lock(m_tasks_mutex);
        task = &m_tasks.emplace_back(Task{this, std::move(body), {}});
        task->place = std::prev(m_tasks.end());
    }
    const timeval when{delay.count() / 1000, (delay.count() % 1000) * 1000};
    CHECK(event_base_once(m_base.get(), -1, EV_TIMEOUT, RunTask, task, &when) == 0);
}

void HttpServer::Impl::RunTask(evutil_socket_t, short, void* arg)
{
    auto* const task = static_cast<Task*>(arg);
    const std::function<void()> body = std::move(task->body);
    Impl* const server = task->server;
    {
        const Lock lock(server->m_tasks_mutex);
        server->m_tasks.erase(task->place);
    }
    body();
}

void HttpServer::Impl::Accept(evutil_socket_t fd, const sockaddr* address, int length)
{
    const auto [host, peer] = PeerName(address, length);
    const int on = 1;
    // Without TCP_NODELAY the end of an answer waits for the client's delayed acknowledgement: 44
    // ms, for answers of several segments on a kept connection.
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        m_logger.Debug(LogCategory::kHttp,
                       "connection from {}: unable to set TCP_NODELAY, continuing anyway", peer);
    }
    if (m_connections.size() >= m_options.max_connections && !MakeRoom()) {
        m_logger.Debug(LogCategory::kHttp, "connection from {} dropped: too many", peer);
        evutil_closesocket(fd);
        return;
    }
    const uint64_t id = m_next_id++;
    m_logger.Debug(LogCategory::kHttp, "HTTP Connection accepted from {} (id={})", peer, id);
    m_connections.emplace(id,
                          std::make_unique<HttpConnection>(*this, m_logger, m_base.get(), fd, id,
                                                           host, peer, m_options.timeout_seconds));
}

// A new connection displaces the one without a current call that is idle for longest, so that
// clients with many or slow connections cannot lock others out.
bool HttpServer::Impl::MakeRoom()
{
    HttpConnection* idle = nullptr;
    for (const auto& [id, connection] : m_connections) {
        if (connection->IsClosed() || connection->IsBusy()) continue;
        if (!idle || connection->LastUsed() < idle->LastUsed()) idle = connection.get();
    }
    if (idle) idle->CloseSoon();
    return idle != nullptr;
}

bool HttpServer::Impl::OnBodyGrown(const HttpConnection& connection, size_t bytes)
{
    m_body_bytes += bytes;
    while (m_body_bytes > m_options.max_body_bytes && RefuseOlderBody(connection)) continue;
    return m_body_bytes <= m_options.max_body_bytes;
}

// Refuses the body that began first, so that clients that send large bodies slowly cannot lock
// others out. Such clients need no login.
bool HttpServer::Impl::RefuseOlderBody(const HttpConnection& than)
{
    HttpConnection* oldest = nullptr;
    for (const auto& [id, connection] : m_connections) {
        if (!connection->IsReceivingBody()) continue;
        if (!oldest || connection->BodySince() < oldest->BodySince()) oldest = connection.get();
    }
    if (!oldest || oldest == &than) return false;
    oldest->RefuseBody();
    return true;
}

void HttpServer::Impl::AcceptFailed()
{
    m_logger.Debug(LogCategory::kHttp, "Cannot accept new connection: {}",
                   evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
    (void)MakeRoom();
    for (const auto& listener : m_listeners) evconnlistener_disable(listener.get());
    Post(
        [this] {
            for (const auto& listener : m_listeners) evconnlistener_enable(listener.get());
        },
        std::chrono::seconds(kAcceptPauseSeconds));
}

// The connection is still on the call stack, so it is destroyed later.
void HttpServer::Impl::OnClosed(HttpConnection& connection)
{
    Post([this, id = connection.Id()] {
        m_connections.erase(id);
        if (m_draining && m_connections.empty()) event_base_loopbreak(m_base.get());
    });
}

void HttpServer::Impl::OnRequest(HttpConnection& connection)
{
    const HttpMessage& message = connection.Request();
    m_logger.Debug(LogCategory::kHttp, "Received a {} request for {} from {} (id={})",
                   EscapeControl(message.method), EscapeControl(message.target.substr(0, 100)),
                   connection.Peer(), connection.Id());
    if (m_interrupted) {
        m_logger.Debug(LogCategory::kHttp, "Rejecting request while shutting down");
        return connection.Reply({503});
    }
    if (!m_options.allowed(connection.Host())) {
        m_logger.Debug(LogCategory::kHttp,
                       "HTTP request from {} rejected: Client network is not allowed RPC access",
                       connection.Peer());
        return connection.Reply({403});
    }
    constexpr const char* kMethods[] = {"GET", "POST", "HEAD", "PUT"};
    if (std::find(std::begin(kMethods), std::end(kMethods), message.method) == std::end(kMethods)) {
        m_logger.Debug(LogCategory::kHttp,
                       "HTTP request from {} rejected: Unknown HTTP request method",
                       connection.Peer());
        return connection.Reply({405});
    }
    Dispatch(connection);
}

void HttpServer::Impl::Dispatch(HttpConnection& connection)
{
    const HttpMessage& message = connection.Request();
    Job job{connection.Id(), {message.method, message.target, {}, connection.Peer(), {}}};
    if (const std::string* value = message.Header("Authorization")) {
        job.request.authorization = *value;
    }
    job.request.body = connection.TakeBody();
    const size_t size = job.request.body.size();
    if (m_queue.TryPush(std::move(job), 1)) return;
    OnBodyFreed(size);
    m_logger.Warning("Request rejected because http work queue depth exceeded, it can be increased "
                     "with the -rpcworkqueue= setting");
    connection.Reply({503, "Work queue depth exceeded"});
}

/** Queues the next piece as a job, so that a client that reads slowly does not occupy a worker. The
 *  job needs no room in the queue, because its request was accepted before. */
void HttpServer::Impl::OnPieceWanted(HttpConnection& connection)
{
    if (!m_queue.TryPush({connection.Id(), {}, connection.Rest()}, 0)) connection.Abort();
}

void HttpServer::Impl::Work()
{
    while (auto job = m_queue.Pop()) job->rest ? MakePiece(*job) : MakeAnswer(*job);
}

/** Whether more follows; nothing: the piece could not be made. */
std::optional<bool> HttpServer::Impl::FillPiece(HttpBody& body, std::string& piece) const
try {
    while (piece.size() < m_options.piece_bytes) {
        if (!body.Append(piece)) return false;
    }
    return true;
} catch (const std::exception& error) {
    m_logger.Error("A part of an HTTP answer could not be made: {}", error.what());
    return std::nullopt;
}

void HttpServer::Impl::MakeAnswer(const Job& job)
{
    HttpResponse response{500};
    try {
        response = m_handler(job.request);
    } catch (const std::exception& error) {
        m_logger.Error("HTTP request for {} failed: {}",
                       EscapeControl(job.request.uri.substr(0, 100)), error.what());
    }
    OnBodyFreed(job.request.body.size());
    if (response.rest) {
        const std::optional<bool> more = FillPiece(*response.rest, response.body);
        if (!more) response = HttpResponse{500};
        if (more && !*more) response.rest = nullptr;
    }
    const auto delay = response.delay;
    // A task is a std::function, which must be copyable.
    const auto shared = std::make_shared<HttpResponse>(std::move(response));
    Post(
        [this, id = job.connection, shared] {
            if (HttpConnection* const found = Find(id)) found->Reply(std::move(*shared));
        },
        delay);
}

void HttpServer::Impl::MakePiece(const Job& job)
{
    const auto piece = std::make_shared<std::string>();
    const std::optional<bool> more = FillPiece(*job.rest, *piece);
    Post([this, id = job.connection, piece, more] {
        HttpConnection* const found = Find(id);
        if (!found) return;
        if (!more) return found->Abort();
        found->SendPiece(std::move(*piece), !*more);
    });
}

/** Null: it is closed. */
HttpConnection* HttpServer::Impl::Find(uint64_t connection)
{
    const auto it = m_connections.find(connection);
    return it != m_connections.end() && !it->second->IsClosed() ? it->second.get() : nullptr;
}

Result<> HttpServer::Impl::Bind(const HttpServerOptions::Address& address)
{
    addrinfo wanted = {};
    wanted.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const std::string port = std::to_string(address.port);
    if (getaddrinfo(address.host.c_str(), port.c_str(), &wanted, &list) != 0) {
        return BadData("Could not bind RPC on address {} port {}: Address lookup failed.",
                       address.host, port);
    }
    const std::unique_ptr<addrinfo, Free> owned(list);
    const auto accept = [](evconnlistener*, evutil_socket_t fd, sockaddr* peer, int length,
                           void* self) { static_cast<Impl*>(self)->Accept(fd, peer, length); };
    std::unique_ptr<evconnlistener, Free> listener(evconnlistener_new_bind(
        m_base.get(), accept, this,
        LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE | LEV_OPT_DISABLED |
            (list->ai_family == AF_INET6 ? LEV_OPT_BIND_IPV6ONLY : 0u),
        SOMAXCONN, list->ai_addr, static_cast<int>(list->ai_addrlen)));
    if (!listener) {
        const int error = EVUTIL_SOCKET_ERROR();
        const std::string name = PeerName(list->ai_addr, static_cast<int>(list->ai_addrlen)).second;
        const std::string why =
            error == EADDRINUSE
                ? fmt::format("Unable to bind to {} on this computer. {} is probably already "
                              "running.",
                              name, kProjectName)
                : fmt::format("Unable to bind to {} on this computer (bind returned error {} ({}))",
                              name, std::strerror(error), error);
        return SystemError("Binding RPC on address {} failed: {}", name, why);
    }
    evconnlistener_set_error_cb(listener.get(), [](evconnlistener*, void* self) {
        static_cast<Impl*>(self)->AcceptFailed();
    });
    m_listeners.push_back(std::move(listener));
    return {};
}

Result<> HttpServer::Impl::Start()
{
    evthread_use_pthreads();
    m_base.reset(event_base_new());
    if (!m_base) return SystemError("cannot set up the HTTP server");
    for (const auto& address : m_options.bind) {
        m_logger.Info("Binding RPC on address {} port {}", address.host, address.port);
        const auto bound = Bind(address);
        if (!bound.Ok()) m_logger.Warning("{}", bound.Message());
    }
    if (m_listeners.empty()) return SystemError("Unable to bind any endpoint for RPC server");
    for (const auto& listener : m_listeners) evconnlistener_enable(listener.get());

    const int workers = std::max(m_options.threads, 1);
    m_logger.Info("Starting HTTP server with {} worker threads", workers);
    for (int i = 0; i < workers; ++i) {
        m_workers.emplace_back(fmt::format("http.{:02}", i), [this, i] {
            const ThreadLines lines(m_logger, fmt::format("http.{:02}", i));
            AskForShortSlices(); // a client waits for the answer
            Work();
        });
    }
    m_is_running = true;
    m_loop = NamedThread("http", [this] {
        const ThreadLines lines(m_logger, "http");
        AskForShortSlices();
        event_base_loop(m_base.get(), EVLOOP_NO_EXIT_ON_EMPTY);
    });
    return {};
}

// Runs on the loop's thread. No worker is left to continue answers that are sent in pieces.
void HttpServer::Impl::Drain()
{
    m_draining = true;
    m_listeners.clear();
    for (const auto& [id, connection] : m_connections) {
        connection->Rest() ? connection->Abort() : connection->CloseSoon();
    }
    if (m_connections.empty()) event_base_loopbreak(m_base.get());
    Post([this] { event_base_loopbreak(m_base.get()); }, std::chrono::seconds(kStopSeconds));
}

void HttpServer::Impl::Stop()
{
    Interrupt();
    m_queue.Close();
    m_workers.clear();
    // Posted to the loop: a break request before the loop runs would be lost, and Join() would wait
    // forever if the program stops right after this start.
    if (m_is_running) Post([this] { Drain(); });
    m_loop.Join();
    m_connections.clear();
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}

HttpServer::~HttpServer() = default;

void HttpServer::Interrupt() { m_impl->Interrupt(); }

Result<std::unique_ptr<HttpServer>>
HttpServer::Start(Env& env, Logger& logger, const HttpServerOptions& options, Handler handler)
{
    auto impl = std::make_unique<Impl>(env, logger, options, std::move(handler));
    IBD_RETURN_IF_ERROR(impl->Start());
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

} // namespace ibd
