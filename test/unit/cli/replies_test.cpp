// bitcoin-cli with a server that sends any reply: replies, their errors and exit codes, in Core's
// words; and its requests.
#include "cli/http_client.h"
#include "cli/run_cli.h"
#include "cli/scripted_http.h"
#include "support/temp_dir.h"

#include <sstream>

#include "support/catch.h"

using namespace ibd;
using ibd::test::CliRun;
using ibd::test::HttpReply;
using ibd::test::RunCliWith;
using ibd::test::ScriptedHttp;
using ibd::test::TempDir;
using ibd::test::Words;

namespace {

/** One client of a server, logged in as u:p. */
class Client {
public:
    explicit Client(std::vector<std::string> answers) : m_server(std::move(answers)) {}

    CliRun Ask(Words words, const std::string& input = "")
    {
        const Words common = {"-datadir=" + m_dir.Get().string(), "-regtest", m_server.PortOption(),
                              "-rpcuser=u", "-rpcpassword=p"};
        words.insert(words.begin(), common.begin(), common.end());
        return RunCliWith(std::move(words), input);
    }
    /** Body of the n-th request. */
    std::string Body(size_t n) const
    {
        const std::string& request = m_server.Requests().at(n);
        return request.substr(request.find("\r\n\r\n") + 4);
    }
    const std::string& Request(size_t n) const { return m_server.Requests().at(n); }

private:
    const TempDir m_dir;
    ScriptedHttp m_server;
};

/** The client's end after one answer to getblockcount. */
CliRun After(const std::string& answer) { return Client({answer}).Ask({"getblockcount"}); }

std::string Answered(const std::string& json)
{
    return HttpReply(200, "{\"result\":" + json + ",\"error\":null,\"id\":1}");
}

std::string Chunked(std::string_view body, size_t size)
{
    std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (size_t at = 0; at < body.size(); at += size) {
        const std::string_view chunk = body.substr(at, size);
        text += fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk);
    }
    return text + "0\r\n\r\n";
}

} // namespace

TEST_CASE("results are printed as text, as JSON, or not at all")
{
    CHECK(After(Answered("5")).out == "5\n");
    CHECK(After(Answered("\"a b\"")).out == "a b\n");
    CHECK(After(Answered("null")).out.empty());
    CHECK(After(Answered("{\"a\":[1]}")).out == "{\n  \"a\": [\n    1\n  ]\n}\n");
    CHECK(After(Answered("0.10000000")).out == "0.10000000\n");
    CHECK(After(Answered("5")).exit_code == 0);
    CHECK(After(Chunked(R"({"result":"abc","error":null,"id":1})", 3)).out == "abc\n");
}

TEST_CASE("an error of the call is the exit code, and its text is printed")
{
    const CliRun run = After(HttpReply(
        500, R"({"result":null,"error":{"code":-8,"message":"Block height out of range"}})"));
    CHECK(run.exit_code == 8);
    CHECK(run.out.empty());
    CHECK(run.error == "error code: -8\nerror message:\nBlock height out of range\n");
    CHECK(After(HttpReply(404, R"({"result":null,"error":{"code":-32601,"message":"x"}})"))
              .exit_code == 32601);
    CHECK(After(HttpReply(400, R"({"error":{"message":"no code"}})")).error ==
          "error message:\nno code\n");
    CHECK(After(HttpReply(400, R"({"error":{"message":"no code"}})")).exit_code == 1);
    CHECK(After(HttpReply(500, R"({"error":"text"})")).error == "error: \"text\"\n");
    CHECK_THAT(
        After(HttpReply(500, R"({"error":{"code":-19,"message":"w."}})")).error,
        Catch::Contains("w. Or for the CLI, specify the \"-rpcwallet=<walletname>\" option"));
}

TEST_CASE("replies that are none are named")
{
    const auto error = [](const std::string& answer) {
        const CliRun run = After(answer);
        CHECK(run.exit_code == 1);
        CHECK(run.out.empty());
        return run.error;
    };
    CHECK(error(HttpReply(503, "Work queue depth exceeded")) ==
          "error: Server response: Work queue depth exceeded\n");
    CHECK(error(HttpReply(403, "")) == "error: server returned HTTP error 403\n");
    CHECK(error(HttpReply(200, "")) == "error: no response from server\n");
    CHECK(error(HttpReply(200, "{")) == "error: couldn't parse reply from server\n");
    CHECK(error(HttpReply(200, "{}")) ==
          "error: expected reply to have result, error and id properties\n");
    CHECK_THAT(error(HttpReply(401, "")),
               Catch::StartsWith("error: Authorization failed: Incorrect rpcuser or rpcpassword "
                                 "were specified."));
    for (const char* broken : {"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "no answer",
                               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"}) {
        INFO(broken);
        CHECK_THAT(error(broken),
                   Catch::StartsWith("error: Error while attempting to communicate with server "
                                     "127.0.0.1:"));
    }
}

TEST_CASE("a chunked answer is read in chunks of any size, and no part of it is an answer")
{
    const std::string body = R"({"result":[1,2,3],"error":null,"id":1})";
    for (size_t size = 1; size <= body.size(); ++size) {
        const std::string whole = Chunked(body, size);
        INFO(size);
        const auto answer = ParseHttpAnswer(whole);
        REQUIRE(answer);
        CHECK(answer->body == body);
        for (size_t cut = 0; cut < whole.size(); ++cut) {
            const auto part = ParseHttpAnswer(std::string_view(whole).substr(0, cut));
            CHECK_FALSE(part);
        }
    }
    for (const char* length : {"-1", "ffffffffffffffffffff", "", "0x1", "g"}) {
        INFO(length);
        CHECK_FALSE(ParseHttpAnswer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                    std::string(length) + "\r\na\r\n0\r\n\r\n"));
    }
}

TEST_CASE("a call sends path, login, method, arguments and id")
{
    Client client({Answered("1"), Answered("2"), Answered("3"), Answered("4")});
    REQUIRE(client.Ask({"getblock", "00", "2"}).exit_code == 0);
    CHECK(client.Body(0) ==
          "{\"method\":\"getblock\",\"params\":[\"00\",2],\"id\":\"1\",\"jsonrpc\":\"2.0\"}\n");
    CHECK_THAT(client.Request(0), Catch::StartsWith("POST / HTTP/1.1\r\n"));
    CHECK_THAT(client.Request(0), Catch::Contains("\r\nAuthorization: Basic dTpw\r\n"));
    REQUIRE(
        client.Ask({"-named", "-rpcid=x", "getblock", "blockhash=00", "verbosity=2"}).exit_code ==
        0);
    CHECK(client.Body(1) == "{\"method\":\"getblock\",\"params\":{\"blockhash\":\"00\","
                            "\"verbosity\":2},\"id\":\"x\",\"jsonrpc\":\"2.0\"}\n");
    REQUIRE(client.Ask({"-rpcwallet=a/b c", "getbalance"}).exit_code == 0);
    CHECK_THAT(client.Request(2), Catch::StartsWith("POST /wallet/a%2Fb%20c HTTP/1.1\r\n"));
    REQUIRE(client.Ask({"-stdin", "getblockhash"}, "7\n").exit_code == 0);
    CHECK_THAT(client.Body(3), Catch::Contains("\"params\":[7]"));
}

TEST_CASE("-rpcwait asks again while the node is starting, and no longer")
{
    const std::string starting =
        HttpReply(500, R"({"result":null,"error":{"code":-28,"message":"Loading"}})");
    Client client({starting, Answered("7")});
    CHECK(client.Ask({"-rpcwait", "getblockcount"}).out == "7\n");
    CHECK(After(starting).exit_code == 28);
    const std::string batch =
        HttpReply(200, R"([{"id":0,"error":{"code":-28,"message":"Loading"}}])");
    for (const char* special : {"-getinfo", "-netinfo"}) {
        // The second answer is no batch: it ends the wait too.
        const CliRun run = Client({batch, Answered("1")}).Ask({"-rpcwait", special});
        CHECK(run.error == "error: Batch must be an array\n");
    }
    // An error that another attempt cannot change ends the wait.
    CHECK(Client({HttpReply(403, "")}).Ask({"-rpcwait", "getblockcount"}).error ==
          "error: server returned HTTP error 403\n");
}

TEST_CASE("-getinfo, -netinfo, -addrinfo and -generate pass errors of the node on")
{
    const std::string refused = R"("error":{"code":-28,"message":"Loading"})";
    for (const char* special : {"-getinfo", "-netinfo"}) {
        INFO(special);
        const CliRun run = Client({HttpReply(200, "[{\"id\":0," + refused + "}]")}).Ask({special});
        CHECK(run.exit_code == 28);
        CHECK(run.error == "error code: -28\nerror message:\nLoading\n");
        const CliRun none = Client({HttpReply(200, "[{\"id\":99}]")}).Ask({special});
        CHECK(none.error == "error: Batch member id is larger than batch size\n");
        CHECK(Client({Answered("1")}).Ask({special}).error == "error: Batch must be an array\n");
    }
    CHECK(Client({HttpReply(500, "{" + refused + "}")}).Ask({"-addrinfo"}).exit_code == 28);
    CHECK(Client({HttpReply(500, "{" + refused + "}")}).Ask({"-generate"}).exit_code == 28);
    Client miner({Answered("\"addr\""), Answered("[\"00\"]")});
    CHECK(miner.Ask({"-generate", "2", "9"}).out ==
          "{\n  \"address\": \"addr\",\n  \"blocks\": [\n    \"00\"\n  ]\n}\n");
    CHECK_THAT(miner.Body(1), Catch::Contains("\"params\":[2,\"addr\",9]"));
    CHECK_THAT(Client({Answered("\"addr\"")}).Ask({"-generate", "0"}).error,
               Catch::StartsWith("error: the first argument (number of blocks to generate"));
    CHECK_THAT(Client({Answered("\"addr\"")}).Ask({"-generate", "1", "2", "3"}).error,
               Catch::StartsWith("error: too many arguments (maximum 2 for nblocks and maxtries)"));
}
