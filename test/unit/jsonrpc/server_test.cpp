// The whole server over real sockets: logins, methods, statuses, many calls at once, shutdown.
#include "jsonrpc/http_parser.h"
#include "jsonrpc/server.h"
#include "support/temp_dir.h"
#include "util/base64.h"
#include "util/threads.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/catch.h"

using namespace ibd;
using ibd::test::TempDir;

namespace {

uint16_t FreePort()
{
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    ::close(fd);
    return ntohs(address.sin_port);
}

/** A connection to the server. */
class Client {
public:
    explicit Client(uint16_t port) : m_fd(::socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        m_connected = ::connect(m_fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    ~Client() { ::close(m_fd); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void Send(const std::string& bytes)
    {
        if (m_connected) (void)!::send(m_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    /** Reads until `end`, or until the server closes. */
    std::string Read(const std::string& end = "")
    {
        std::string answer;
        char buffer[4096];
        while (m_connected && (end.empty() || !answer.ends_with(end))) {
            const ssize_t n = ::read(m_fd, buffer, sizeof buffer);
            if (n <= 0) break;
            answer.append(buffer, static_cast<size_t>(n));
        }
        return answer;
    }
    int Socket() const { return m_fd; }
    uint16_t LocalPort() const
    {
        sockaddr_in address = {};
        socklen_t size = sizeof address;
        REQUIRE(::getsockname(m_fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        return address.sin_port;
    }

private:
    const int m_fd;
    bool m_connected = false;
};

/** Sends a request and reads until the server closes: the whole answer. */
std::string Exchange(uint16_t port, const std::string& request)
{
    Client client(port);
    client.Send(request);
    return client.Read();
}

/** The server's end of a connection, which lives in this process. */
int AcceptedSocket(const Client& client)
{
    for (int fd = 0; fd < 1024; ++fd) {
        sockaddr_in peer = {};
        socklen_t size = sizeof peer;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
        if (peer.sin_port == client.LocalPort()) return fd;
    }
    return -1;
}

std::string PostRequest(const std::string& body, const std::string& login,
                        const std::string& path = "/", const std::string& method = "POST")
{
    return method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
           std::to_string(body.size()) +
           (login.empty() ? "" : "\r\nAuthorization: Basic " + ToBase64(AsBytes(login))) +
           "\r\n\r\n" + body;
}

struct Server {
    std::unique_ptr<Env> env = MakePosixEnv();
    std::unique_ptr<Logger> log = MakeNullLogger();
    RpcTable table{*env};
    RpcServerOptions options;
    std::unique_ptr<RpcServer> server;
    std::atomic<int> in_call{0};
    std::atomic<bool> hold{false};
    const uint16_t port = FreePort();

    Server()
    {
        table.Add(
            {"test", "ping", "", {}, "", "", [](const RpcCall&) -> UniValue { return "pong"; }});
        table.Add({"test", "hold", "", {}, "", "", [this](const RpcCall&) -> UniValue {
                       ++in_call;
                       while (hold) ::usleep(1000);
                       return "held";
                   }});
        table.EndWarmup();
        options.http.bind = {{"127.0.0.1", port}};
        options.http.allowed = [](const std::string& host) { return host == "127.0.0.1"; };
        options.http.threads = 2;
        table.Add({"test",
                   "repeat",
                   "",
                   {{"text", RpcType::kString, true, "", ""}},
                   "",
                   "",
                   [](const RpcCall& call) -> UniValue { return call.String(0); }});
        options.auth.user = "u";
        options.auth.password = "p";
    }
    void Start(HttpHandler rest = {})
    {
        auto started = RpcServer::Start(*env, *log, options, table, std::move(rest));
        REQUIRE(started.Ok());
        server = std::move(*started);
    }
};

/** Lines with their numbers, the size of all known or not. */
class Lines final : public HttpBody {
public:
    Lines(int count, bool size_known) : m_count(count), m_size_known(size_known) {}
    static std::string All(int count, int first = 0)
    {
        std::string all;
        for (int i = first; i < count; ++i) all += std::to_string(i) + "\n";
        return all;
    }
    bool Append(std::string& out) override
    {
        if (m_next < m_count) out += std::to_string(m_next++) + "\n";
        most = std::max(most.load(), out.size());
        made += 1;
        return m_next < m_count || m_empty_end-- > 0;
    }
    std::optional<uint64_t> Size() const override
    {
        return m_size_known ? std::optional<uint64_t>(All(m_count, m_next).size()) : std::nullopt;
    }
    std::atomic<size_t> most = 0; //!< bytes of the longest piece
    std::atomic<int> made = 0;    //!< calls

private:
    const int m_count;
    const bool m_size_known;
    int m_next = 0;
    int m_empty_end = 1;
};

/** A body for which there is no memory after some lines. */
class NoMemory final : public HttpBody {
public:
    explicit NoMemory(int lines) : m_lines(lines) {}

    bool Append(std::string& out) override
    {
        if (m_lines-- == 0) throw std::bad_alloc();
        out += "a line\n";
        return true;
    }

private:
    int m_lines;
};

/** The body of a chunked answer. */
std::string Dechunk(std::string_view chunks)
{
    std::string body;
    while (true) {
        const size_t line = chunks.find("\r\n");
        REQUIRE(line != std::string_view::npos);
        const size_t size = std::stoul(std::string(chunks.substr(0, line)), nullptr, 16);
        if (size == 0) {
            CHECK(chunks == "0\r\n\r\n");
            return body;
        }
        body += chunks.substr(line + 2, size);
        REQUIRE(chunks.substr(line + 2 + size, 2) == "\r\n");
        chunks.remove_prefix(line + 2 + size + 2);
    }
}

const char* const kPing = R"({"id":1,"method":"ping"})";

} // namespace

TEST_CASE("the server answers clients that log in and POST to the right path")
{
    Server s;
    s.Start();
    const auto answer = [&](const std::string& request) { return Exchange(s.port, request); };
    CHECK_THAT(answer(PostRequest(kPing, "u:p")),
               Catch::StartsWith("HTTP/1.1 200") &&
                   Catch::Contains("Content-Type: application/json") &&
                   Catch::EndsWith("{\"result\":\"pong\",\"error\":null,\"id\":1}\n"));
    CHECK_THAT(answer(PostRequest(kPing, "u:wrong")),
               Catch::StartsWith("HTTP/1.1 401") &&
                   Catch::Contains("WWW-Authenticate: Basic realm=\"jsonrpc\""));
    CHECK_THAT(answer(PostRequest(kPing, "")), Catch::StartsWith("HTTP/1.1 401"));
    CHECK_THAT(answer(PostRequest(kPing, "u:p", "/nowhere")), Catch::StartsWith("HTTP/1.1 404"));
    CHECK_THAT(answer(PostRequest("", "u:p", "/", "GET")),
               Catch::StartsWith("HTTP/1.1 405") &&
                   Catch::Contains("JSONRPC server handles only POST requests"));
    CHECK_THAT(answer(PostRequest("", "u:p", "/", "DELETE")), Catch::StartsWith("HTTP/1.1 405"));
    CHECK_THAT(answer(PostRequest("{", "u:p")), Catch::StartsWith("HTTP/1.1 500"));
    CHECK_THAT(answer(PostRequest(R"({"jsonrpc":"2.0","method":"ping"})", "u:p")),
               Catch::StartsWith("HTTP/1.1 204"));
    const std::string long_header(HttpParser::kMaxHeaderBytes + 100, 'x');
    CHECK_THAT(answer("POST / HTTP/1.1\r\nX: " + long_header + "\r\n\r\n"),
               Catch::StartsWith("HTTP/1.1 400 Bad Request\r\n") && Catch::EndsWith("\r\n\r\n"));
}

TEST_CASE("methods without a handler get 405, bytes that are not HTTP get 400, both without a body")
{
    Server s;
    s.Start();
    for (const char* method : {"OPTIONS", "PATCH", "TRACE", "DELETE", "CONNECT", "BREW"}) {
        INFO(method);
        CHECK_THAT(Exchange(s.port, PostRequest("", "u:p", "/", method)),
                   Catch::StartsWith("HTTP/1.1 405 Method Not Allowed\r\n") &&
                       Catch::Contains("\r\nContent-Length: 0\r\n") && Catch::EndsWith("\r\n\r\n"));
    }
    for (const char* bad : {"no HTTP at all\r\n\r\n", "POST / HTTP/1.1\r\nbad\r\n\r\n"}) {
        CHECK_THAT(Exchange(s.port, bad), Catch::StartsWith("HTTP/1.1 400 Bad Request\r\n") &&
                                              Catch::EndsWith("\r\n\r\n"));
    }
    CHECK_THAT(Exchange(s.port, "POST / HTTP/1.1\r\nContent-Length: 40000000\r\n\r\n"),
               Catch::StartsWith("HTTP/1.1 413 Content too large\r\n"));
}

TEST_CASE("a request of which a proxy may see another end gets one 400, and what follows nothing")
{
    Server s;
    s.Start();
    const std::string login = "Authorization: Basic " + ToBase64(AsBytes("u:p")) + "\r\n";
    const std::string hidden = PostRequest(kPing, "u:p");
    const std::string length = "Content-Length: " + std::to_string(hidden.size()) + "\r\n";
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    const std::pair<const char*, std::string> requests[] = {
        {"HTTP/1.1", chunked + length + "\r\n0\r\n\r\n"},
        {"HTTP/1.1", length + chunked + "\r\n0\r\n\r\n"},
        {"HTTP/1.0", "Connection: keep-alive\r\n" + chunked + "\r\n0\r\n\r\n"},
        {"HTTP/1.1", length + "Content-Length: 0\r\n\r\n"},
        {"HTTP/1.1", "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"},
        {"HTTP/1.1", "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n"},
        {"HTTP/1.1", "Transfer-Encoding: chunked\r\n" + chunked + "\r\n0\r\n\r\n"},
        {"HTTP/1.1", chunked + "\r\n0\n\n"}};
    for (const auto& [version, rest] : requests) {
        INFO(version << ' ' << rest);
        const std::string answer =
            Exchange(s.port, std::string("POST / ") + version + "\r\n" + login + rest + hidden);
        CHECK_THAT(answer,
                   Catch::Contains(" 400 Bad Request\r\n") && Catch::EndsWith("\r\n\r\n"));
        CHECK(answer.find("HTTP/1.", 1) == std::string::npos);
    }
}

TEST_CASE("no answer waits for an acknowledgement: TCP_NODELAY")
{
    Server s;
    s.Start();
    Client client(s.port);
    client.Send("GET /none HTTP/1.1\r\n\r\n");
    client.Read("\r\n\r\n"); // it is accepted
    const int fd = AcceptedSocket(client);
    REQUIRE(fd >= 0);
    int on = 0;
    socklen_t size = sizeof on;
    REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0);
    CHECK(on == 1);
}

TEST_CASE("requests on one connection are answered in their order, as HTTP/1.1 and 1.0 keep it")
{
    Server s;
    s.Start();
    const auto request = [](const std::string& text, const char* version, const char* headers) {
        const std::string body = R"({"id":1,"method":"repeat","params":[")" + text + "\"]}";
        return std::string("POST / HTTP/") + version + "\r\nAuthorization: Basic " +
               ToBase64(AsBytes("u:p")) + "\r\n" + headers +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    };
    std::string all;
    const std::string big(50'000, 'x');
    for (int i = 0; i < 50; ++i) all += request("<" + std::to_string(i) + ">" + big, "1.1", "");
    Client client(s.port);
    NamedThread sender("sender",
                       [&] { client.Send(all + request("last", "1.1", "Connection: close\r\n")); });
    const std::string answers = client.Read();
    size_t at = 0;
    for (int i = 0; i < 50; ++i) {
        at = answers.find("<" + std::to_string(i) + ">", at);
        REQUIRE(at != std::string::npos);
    }
    CHECK(answers.find("last", at) != std::string::npos);
    sender.Join();

    CHECK_THAT(Exchange(s.port, request("old", "1.0", "")),
               Catch::StartsWith("HTTP/1.0 200 OK\r\n") && Catch::Contains("old") &&
                   !Catch::Contains("Content-Length") && !Catch::Contains("Date"));
    Client kept(s.port);
    kept.Send(request("one", "1.0", "Connection: Keep-Alive\r\n") + request("two", "1.0", ""));
    CHECK_THAT(kept.Read(), Catch::Contains("one") && Catch::Contains("two") &&
                                Catch::Contains("Connection: keep-alive"));
}

TEST_CASE("a client that says no more still gets its answer")
{
    Server s;
    s.Start();
    const std::string chunked =
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nAuthorization: Basic " +
        ToBase64(AsBytes("u:p")) +
        "\r\n\r\n1\r\n{\r\n17\r\n\"id\":1,\"method\":\"ping\"}\r\n0\r\n\r\n";
    Client client(s.port);
    client.Send(chunked);
    ::shutdown(client.Socket(), SHUT_WR);
    CHECK_THAT(client.Read(), Catch::StartsWith("HTTP/1.1 200") && Catch::Contains("pong"));
}

TEST_CASE("hostile clients are bounded: pauses, many connections, many bytes")
{
    Server s;
    SECTION("a head that does not end, a client that says nothing")
    {
        s.options.http.timeout_seconds = 1;
        s.Start();
        Client slow(s.port);
        slow.Send("POST / HTTP/1.1\r\n");
        CHECK(slow.Read().empty()); // returns: the server has closed
        Client silent(s.port);
        CHECK(silent.Read().empty());
    }
    SECTION("more connections than there may be: the one that is idle for longest goes")
    {
        s.options.http.max_connections = 2;
        s.Start();
        const std::string probe = "GET /none HTTP/1.1\r\n\r\n";
        std::vector<std::unique_ptr<Client>> clients;
        const auto use = [&](size_t client) {
            clients[client]->Send(probe);
            CHECK_THAT(clients[client]->Read("\r\n\r\n"), Catch::StartsWith("HTTP/1.1 404"));
        };
        for (size_t i = 0; i < 3; ++i) {
            clients.push_back(std::make_unique<Client>(s.port));
            use(i);
            if (i == 1) use(0); // the first is not idle
        }
        CHECK(clients[1]->Read().empty());
        use(0);
    }
    SECTION("bodies beyond the memory for them: the one that began first goes")
    {
        s.options.http.max_body_bytes = 1000;
        s.Start();
        const std::string part = "POST / HTTP/1.1\r\nContent-Length: 500\r\n\r\n";
        Client first(s.port);
        first.Send(part + std::string(450, 'x'));
        Client second(s.port);
        second.Send(part + std::string(450, 'x'));
        const auto is_answered = [](const Client& client) {
            pollfd wanted{client.Socket(), POLLIN, 0};
            return ::poll(&wanted, 1, 1) > 0;
        };
        const std::string call = PostRequest(std::string(200, ' '), "u:p");
        while (!is_answered(first) && !is_answered(second)) { // they may not have been read yet
            CHECK_THAT(Exchange(s.port, call), Catch::StartsWith("HTTP/1.1 500"));
        }
        Client& refused = is_answered(first) ? first : second;
        Client& kept = &refused == &first ? second : first;
        CHECK_THAT(refused.Read("\r\n\r\n"), Catch::StartsWith("HTTP/1.1 503"));
        CHECK_THAT(Exchange(s.port, call), Catch::StartsWith("HTTP/1.1 500"));
        CHECK_FALSE(is_answered(kept));
        kept.Send(std::string(50, 'x'));
        CHECK_THAT(kept.Read("\r\n\r\n"), Catch::StartsWith("HTTP/1.1 401"));
        // No other body can make room for one that is too large by itself.
        CHECK_THAT(Exchange(s.port, PostRequest(std::string(1001, ' '), "u:p")),
                   Catch::StartsWith("HTTP/1.1 503"));
        CHECK_THAT(Exchange(s.port, call), Catch::StartsWith("HTTP/1.1 500"));
    }
}

TEST_CASE("a peer that is not allowed is refused")
{
    Server s;
    s.options.http.allowed = [](const std::string& host) { return host == "10.0.0.1"; };
    s.Start();
    CHECK_THAT(Exchange(s.port, PostRequest(kPing, "u:p")), Catch::StartsWith("HTTP/1.1 403"));
}

TEST_CASE("calls beyond the work queue are refused, those under way end well at shutdown")
{
    Server s;
    s.options.http.work_queue = 1;
    s.options.http.threads = 1;
    s.hold = true;
    s.Start();
    const std::string request = PostRequest(R"({"id":1,"method":"hold"})", "u:p");
    std::atomic<int> refused{0};
    std::atomic<int> held{0};
    std::vector<NamedThread> clients;
    // The first is at work before the others come: one fits into the queue, two are refused.
    for (int i = 0; i < 4; ++i) {
        while (i > 0 && s.in_call == 0) ::usleep(1000);
        clients.emplace_back("client", [&] {
            const std::string answer = Exchange(s.port, request);
            if (answer.find("held") != std::string::npos) ++held;
            if (answer.starts_with("HTTP/1.1 503") &&
                answer.find("Work queue depth exceeded") != std::string::npos) {
                ++refused;
            }
        });
    }
    while (refused < 2) ::usleep(1000);
    s.server->Interrupt();
    CHECK_THAT(Exchange(s.port, request), Catch::StartsWith("HTTP/1.1 503"));
    s.hold = false;
    s.server.reset();
    clients.clear();
    CHECK(held == 2);
    CHECK(refused == 2);
    CHECK(Exchange(s.port, request).empty());
}

TEST_CASE("a client that leaves before its answer does no harm")
{
    Server s;
    s.hold = true;
    s.Start();
    const std::string request = PostRequest(R"({"id":1,"method":"hold"})", "u:p");
    for (int i = 0; i < 2; ++i) {
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_port = htons(s.port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(::write(fd, request.data(), request.size()) > 0);
        while (s.in_call <= i) ::usleep(1000);
        ::close(fd);
    }
    s.hold = false;
    CHECK_THAT(Exchange(s.port, PostRequest(kPing, "u:p")), Catch::Contains("pong"));
    s.server.reset();
}

TEST_CASE("a server that stops before its loop has begun ends all the same")
{
    const auto env = MakePosixEnv();
    const auto log = MakeNullLogger();
    HttpServerOptions options;
    options.bind = {{"127.0.0.1", FreePort()}};
    options.threads = 1;
    // Which comes first, the loop or its end, is a race: most rounds are won by the end.
    for (int round = 0; round < 200; ++round) {
        REQUIRE(HttpServer::Start(*env, *log, options, [](const HttpRequest&) {
                    return HttpResponse{};
                }).Ok());
    }
}

TEST_CASE("REST has the paths below /rest/ alone, without a login")
{
    Server s;
    const auto rest = [](const HttpRequest& request) {
        return HttpResponse{200, "<" + request.method + request.uri + ">", "text/plain"};
    };
    SECTION("on")
    {
        s.Start(rest);
        CHECK_THAT(Exchange(s.port, PostRequest("", "", "/rest/x?y=%20", "GET")),
                   Catch::StartsWith("HTTP/1.1 200") && Catch::EndsWith("<GET/rest/x?y=%20>"));
        CHECK_THAT(Exchange(s.port, PostRequest("", "", "/rest", "GET")),
                   Catch::StartsWith("HTTP/1.1 404"));
        CHECK_THAT(Exchange(s.port, PostRequest("", "", "//rest/x", "GET")),
                   Catch::StartsWith("HTTP/1.1 404"));
        CHECK_THAT(Exchange(s.port, PostRequest(kPing, "u:p")), Catch::Contains("pong"));
    }
    SECTION("off")
    {
        s.Start();
        CHECK_THAT(Exchange(s.port, PostRequest("", "", "/rest/x", "GET")),
                   Catch::StartsWith("HTTP/1.1 404"));
    }
}

TEST_CASE("a body in pieces arrives whole, and never lies whole in memory")
{
    constexpr int kCount = 20'000; // some 108,000 bytes
    const bool size_known = GENERATE(false, true);
    const bool is_long = GENERATE(false, true);
    const std::string version = GENERATE("1.0", "1.1");
    Server s;
    s.options.http.piece_bytes = is_long ? 1'000 : 1'000'000;
    const auto lines = std::make_shared<Lines>(kCount, size_known);
    s.Start([&](const HttpRequest&) {
        HttpResponse response{200, "", "text/plain"};
        response.rest = lines;
        return response;
    });
    const std::string answer =
        Exchange(s.port, "GET /rest/ HTTP/" + version + "\r\nConnection: close\r\n\r\n");
    const size_t head_end = answer.find("\r\n\r\n") + 4;
    const std::string head = answer.substr(0, head_end);
    const std::string body = answer.substr(head_end);
    const bool chunked = is_long && !size_known && version == "1.1";
    INFO(head);
    CHECK(chunked == (head.find("Transfer-Encoding: chunked") != std::string::npos));
    const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
    CHECK((version == "1.1" && !chunked) == (head.find(length) != std::string::npos));
    CHECK((chunked ? Dechunk(body) : body) == Lines::All(kCount));
    if (is_long) CHECK(lines->most < 1'100);
}

TEST_CASE("a connection is kept after a body in pieces")
{
    Server s;
    s.options.http.piece_bytes = 1'000;
    s.Start([&](const HttpRequest&) {
        HttpResponse response{200, "", "text/plain"};
        response.rest = std::make_shared<Lines>(2'000, false);
        return response;
    });
    Client client(s.port);
    for (int i = 0; i < 3; ++i) {
        client.Send("GET /rest/ HTTP/1.1\r\n\r\n");
        const std::string answer = client.Read("\r\n0\r\n\r\n");
        CHECK(Dechunk(answer.substr(answer.find("\r\n\r\n") + 4)) == Lines::All(2'000));
    }
}

TEST_CASE("an answer whose part cannot be made ends alone")
{
    const int made = GENERATE(0, 500);
    Server s;
    s.options.http.piece_bytes = 1'000;
    s.Start([&](const HttpRequest&) {
        HttpResponse response{200, "", "text/plain"};
        response.rest = std::make_shared<NoMemory>(made);
        return response;
    });
    const std::string answer = Exchange(s.port, "GET /rest/ HTTP/1.1\r\n\r\n");
    CHECK(answer.starts_with(made == 0 ? "HTTP/1.1 500 " : "HTTP/1.1 200 "));
    CHECK(answer.find("\r\n0\r\n") == std::string::npos); // else it would seem whole
    CHECK_THAT(Exchange(s.port, PostRequest(kPing, "u:p")), Catch::Contains("pong"));
}

TEST_CASE("a client that takes its answer slowly holds no worker")
{
    Server s;
    s.options.http.piece_bytes = 100'000;
    s.options.http.threads = 1;
    const auto lines = std::make_shared<Lines>(20'000'000, false);
    s.Start([&](const HttpRequest&) {
        HttpResponse response{200, "", "text/plain"};
        response.rest = lines;
        return response;
    });
    Client slow(s.port); // takes nothing, so that the kernel's buffers fill
    slow.Send("GET /rest/ HTTP/1.1\r\n\r\n");
    int before = -1;
    while (lines->made == 0 || lines->made != before) {
        before = lines->made;
        ::usleep(50'000);
    }
    CHECK(lines->made < 20'000'000);
    CHECK_THAT(Exchange(s.port, PostRequest(kPing, "u:p")), Catch::Contains("pong"));
    s.server.reset(); // does not wait for it
}

TEST_CASE("an address that is taken is an error")
{
    Server a;
    a.Start();
    const auto b = RpcServer::Start(*a.env, *a.log, a.options, a.table);
    REQUIRE_FALSE(b.Ok());
    CHECK(b.Message() == "Unable to start HTTP server. See debug log for details.");
}
