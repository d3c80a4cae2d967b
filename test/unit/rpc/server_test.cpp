// The whole server over real sockets: logins, methods, statuses, many calls at once, shutdown.
#include "rpc/server.h"
#include "support/temp_dir.h"
#include "util/base64.h"
#include "util/threads.h"

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

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

/** Sends a request and reads until the server closes: the whole answer. */
std::string Exchange(uint16_t port, const std::string& request)
{
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string answer;
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
        (void)!::write(fd, request.data(), request.size());
        char buffer[4096];
        for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
            answer.append(buffer, static_cast<size_t>(n));
        }
    }
    ::close(fd);
    return answer;
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
        options.http.allow = {*Subnet::Parse("127.0.0.1")};
        options.http.threads = 2;
        options.auth.user = "u";
        options.auth.password = "p";
    }
    void Start()
    {
        auto started = RpcServer::Start(*env, *log, options, table);
        REQUIRE(started.Ok());
        server = std::move(*started);
    }
};

const char* const kPing = R"({"id":1,"method":"ping"})";

} // namespace

TEST_CASE("the server answers those who log in and POST to the right place")
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
    const std::string long_header(HttpServer::kMaxHeaderSize + 100, 'x');
    CHECK_THAT(answer("POST / HTTP/1.1\r\nX: " + long_header + "\r\n\r\n"),
               !Catch::Contains("200"));
}

TEST_CASE("a peer outside -rpcallowip is refused")
{
    Server s;
    s.options.http.allow = {*Subnet::Parse("10.0.0.0/8")};
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
    const auto log = MakeNullLogger();
    HttpServerOptions options;
    options.bind = {{"127.0.0.1", FreePort()}};
    options.threads = 1;
    // Which comes first, the loop or its end, is a race: most rounds are won by the end.
    for (int round = 0; round < 200; ++round) {
        REQUIRE(HttpServer::Start(*log, options, [](const HttpRequest&) {
                    return HttpResponse{};
                }).Ok());
    }
}

TEST_CASE("an address that is taken is an error")
{
    Server a;
    a.Start();
    const auto b = RpcServer::Start(*a.env, *a.log, a.options, a.table);
    REQUIRE_FALSE(b.Ok());
    CHECK_THAT(b.Message(), Catch::Contains("cannot bind"));
}

TEST_CASE("options of the server")
{
    const auto env = MakePosixEnv();
    const auto log = MakeNullLogger();
    const auto read = [&](std::vector<const char*> words) {
        ArgsManager args;
        AddRpcOptions(args);
        words.insert(words.begin(), "x");
        REQUIRE(args.ParseCommandLine(static_cast<int>(words.size()), words.data()).Ok());
        return ReadRpcOptions(args, 8332, "/net", *log);
    };
    const auto plain = read({});
    REQUIRE(plain.Ok());
    REQUIRE(plain->http.bind.size() == 2);
    CHECK(plain->http.bind[0].host == "::1");
    CHECK(plain->http.bind[1].port == 8332);
    CHECK(plain->auth.cookie == Path("/net/.cookie"));
    CHECK(plain->http.threads == 16);
    // Only both together open the server to others.
    CHECK(read({"-rpcbind=0.0.0.0"})->http.bind.size() == 2);
    CHECK(read({"-rpcallowip=1.2.3.4"})->http.bind[1].host == "127.0.0.1");
    const auto open = read({"-rpcbind=0.0.0.0:5", "-rpcbind=[::]:6", "-rpcbind=::7",
                            "-rpcallowip=1.2.3.0/24", "-rpcport=9", "-rpccookiefile=/c"});
    REQUIRE(open->http.bind.size() == 3);
    CHECK(open->http.bind[0].port == 5);
    CHECK(open->http.bind[1].host == "::");
    CHECK(open->http.bind[1].port == 6);
    CHECK(open->http.bind[2].host == "::7");
    CHECK(open->http.bind[2].port == 9);
    CHECK(open->auth.cookie == Path("/c"));
    for (const auto& bad :
         std::vector<std::vector<const char*>>{{"-rpcport=70000"},
                                               {"-rpcallowip=x"},
                                               {"-rpccookieperms=world"},
                                               {"-rpcallowip=::/0", "-rpcbind=[::1"},
                                               {"-rpcallowip=::/0", "-rpcbind=1.2.3.4:x"}}) {
        CHECK_FALSE(read(bad).Ok());
    }
}
