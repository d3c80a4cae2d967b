// The meaning of the RPC server's options.
#include "rpc/server_options.h"

#include "support/catch.h"

using namespace ibd;

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
    CHECK(open->http.allowed("1.2.3.4"));
    CHECK_FALSE(open->http.allowed("1.2.4.4"));
    for (const char* local : {"127.0.0.1", "127.9.9.9", "::1"}) CHECK(open->http.allowed(local));
    for (const char* other : {"1.2.3.4", "::2", "localhost", ""}) {
        CHECK_FALSE(plain->http.allowed(other));
    }
    for (const auto& bad :
         std::vector<std::vector<const char*>>{{"-rpcport=70000"},
                                               {"-rpcallowip=x"},
                                               {"-rpccookieperms=world"},
                                               {"-rpcallowip=::/0", "-rpcbind=[::1"},
                                               {"-rpcallowip=::/0", "-rpcbind=1.2.3.4:x"}}) {
        CHECK_FALSE(read(bad).Ok());
    }
}
