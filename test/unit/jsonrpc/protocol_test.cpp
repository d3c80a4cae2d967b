// JSON-RPC 1.0, 1.1 and 2.0: errors, statuses, batches, notifications; arguments of calls.
#include "jsonrpc/json.h"
#include "jsonrpc/protocol.h"

#include "support/catch.h"

using namespace ibd;

namespace {

struct Fixture {
    std::unique_ptr<Env> env = MakePosixEnv();
    std::unique_ptr<Logger> log = MakeNullLogger();
    RpcTable table{*env};
    int calls = 0;

    Fixture()
    {
        table.Add({"test",
                   "echo",
                   "Gives its arguments back.",
                   {{"first", RpcType::kString, true, "", "text"},
                    {"second|other", RpcType::kNumber, false, "7", "number"},
                    {"options",
                     RpcType::kNamedOptions,
                     false,
                     "",
                     "",
                     {{"deep", RpcType::kBool, false, "", "flag"}}}},
                   "[...]",
                   "\"a\"",
                   [this](const RpcCall& call) {
                       ++calls;
                       UniValue out(UniValue::VARR);
                       out.push_back(call.String(0));
                       out.push_back(Num(call.Int(1, 7)));
                       out.push_back(call.Option(2, "deep"));
                       return out;
                   }});
        table.Add({"other", "fail", "Fails.", {}, "", "", [](const RpcCall&) -> UniValue {
                       throw RpcError{RpcCode::kInvalidParameter, "as asked"};
                   }});
        RpcMethod early{
            "other", "early", "", {}, "", "", [](const RpcCall&) -> UniValue { return "yes"; }};
        early.since = RpcPhase::kStart;
        table.Add(std::move(early));
        table.EndWarmup();
    }
    RpcReply Ask(const std::string& body, const RpcCaller& caller = {})
    {
        return AnswerRpc(table, *log, body, caller);
    }
    std::string Params(const std::string& params)
    {
        return Ask(R"({"id":1,"method":"echo","params":)" + params + "}").body;
    }
};

} // namespace

TEST_CASE("a request of version 1 has result, error and id, and errors as statuses")
{
    Fixture f;
    RpcReply r = f.Ask(R"({"id":5,"method":"echo","params":["a",3]})");
    CHECK(r.http_status == 200);
    CHECK(r.body == "{\"result\":[\"a\",3,null],\"error\":null,\"id\":5}\n");
    r = f.Ask(R"({"method":"echo","params":["a"]})");
    CHECK(r.body == "{\"result\":[\"a\",7,null],\"error\":null}\n");
    r = f.Ask(R"({"id":"x","method":"fail"})");
    CHECK(r.http_status == 500);
    CHECK(r.body ==
          "{\"result\":null,\"error\":{\"code\":-8,\"message\":\"as asked\"},\"id\":\"x\"}\n");
    r = f.Ask(R"({"id":1,"method":"nothing"})");
    CHECK(r.http_status == 404);
    CHECK_THAT(r.body, Catch::Contains("-32601") && Catch::Contains("Method not found"));
}

TEST_CASE("a request of version 2 has result or error, and success as status")
{
    Fixture f;
    RpcReply r = f.Ask(R"({"jsonrpc":"2.0","id":5,"method":"echo","params":["a"]})");
    CHECK(r.body == "{\"jsonrpc\":\"2.0\",\"result\":[\"a\",7,null],\"id\":5}\n");
    r = f.Ask(R"({"jsonrpc":"2.0","id":null,"method":"fail"})");
    CHECK(r.http_status == 200);
    CHECK(r.body ==
          "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-8,\"message\":\"as asked\"},\"id\":null}\n");
    r = f.Ask(R"({"jsonrpc":"2.0","id":1,"method":"nothing"})");
    CHECK(r.http_status == 200);
    // Without an id it is a notification: executed, not answered.
    r = f.Ask(R"({"jsonrpc":"2.0","method":"echo","params":["a"]})");
    CHECK(r.http_status == 204);
    CHECK(r.body.empty());
    CHECK(f.calls == 2);
    CHECK(f.Ask(R"({"jsonrpc":"2.0","method":"fail"})").http_status == 204);
}

TEST_CASE("malformed requests say what is wrong")
{
    Fixture f;
    const auto expect = [&](const char* body, int status, const char* text) {
        INFO(body);
        const RpcReply r = f.Ask(body);
        CHECK(r.http_status == status);
        CHECK_THAT(r.body, Catch::Contains(text));
    };
    expect("", 500, "-32700");
    expect("{", 500, "Parse error");
    expect("7", 500, "Top-level object parse error");
    expect("{}", 400, "Missing method");
    expect(R"({"method":1})", 400, "Method must be a string");
    expect(R"({"method":"echo","params":7})", 400, "Params must be an array or object");
    expect(R"({"jsonrpc":2,"method":"echo"})", 400, "jsonrpc field must be a string");
    expect(R"({"jsonrpc":"3.0","method":"echo"})", 400, "JSON-RPC version not supported");
    expect(R"({"jsonrpc":"2.0","id":1})", 400, "Missing method");
    expect(R"({"jsonrpc":"2.0","id":1,"method":"echo","params":7})", 400, "Params must be");
    // A malformed request is not a notification, even without an id.
    expect(R"({"jsonrpc":"2.0","method":1})", 400, "Method must be a string");
}

TEST_CASE("batches answer what is to be answered, in order, with success")
{
    Fixture f;
    RpcReply r = f.Ask(R"([{"id":1,"method":"echo","params":["a"]},
                           {"jsonrpc":"2.0","method":"echo","params":["b"]},
                           {"jsonrpc":"2.0","id":3,"method":"fail"}, 9,
                           {"id":4,"method":"none"}])");
    CHECK(r.http_status == 200);
    UniValue answers;
    REQUIRE(answers.read(r.body));
    REQUIRE(answers.size() == 4);
    CHECK(answers[0]["id"].get_int() == 1);
    CHECK(answers[1]["error"]["code"].get_int() == -8);
    CHECK(answers[2]["error"]["message"].get_str() == "Invalid Request object");
    CHECK(answers[3]["error"]["code"].get_int() == -32601);
    CHECK(f.calls == 2);
    r = f.Ask(R"([{"jsonrpc":"2.0","method":"echo","params":["b"]}])");
    CHECK(r.http_status == 204);
    CHECK(f.Ask("[]").body == "[]\n");
}

TEST_CASE("calls that the user may not make are refused as a whole")
{
    Fixture f;
    RpcCaller only_fail;
    only_fail.may_call = [](const std::string& method) { return method == "fail"; };
    CHECK(f.Ask(R"({"id":1,"method":"echo","params":["a"]})", only_fail).http_status == 403);
    CHECK(f.Ask(R"({"id":1,"method":"fail"})", only_fail).http_status == 500);
    CHECK(f.Ask(R"([{"id":1,"method":"fail"},{"id":1,"method":"echo"}])", only_fail).http_status ==
          403);
    CHECK(f.Ask("[7]", only_fail).http_status == 400);
    CHECK(f.calls == 0);
}

TEST_CASE("number and types of arguments are checked in Core's words")
{
    Fixture f;
    CHECK_THAT(f.Params("[]"), Catch::Contains("\"code\":-1") && Catch::Contains("Arguments:"));
    CHECK_THAT(f.Params(R"(["a",1,{},4])"), Catch::Contains("\"code\":-1"));
    CHECK_THAT(f.Params("[1]"),
               Catch::Contains("\"code\":-3") && Catch::Contains("Position 1 (first)") &&
                   Catch::Contains("JSON value of type number is not of expected type string"));
    CHECK_THAT(f.Params(R"(["a","b"])"), Catch::Contains("Position 2 (second|other)"));
    CHECK_THAT(f.Params(R"(["a",null])"), Catch::Contains("[\"a\",7,null]"));
    CHECK_THAT(f.Params(R"([null])"), Catch::Contains("\"code\":-3"));
    CHECK_THAT(f.Params(R"(["a",1.5])"), Catch::Contains("JSON integer out of range"));
    CHECK_THAT(f.Params(R"(["a",99999999999999999999])"), Catch::Contains("out of range"));
}

TEST_CASE("named arguments, aliases, options and leading positional ones")
{
    Fixture f;
    CHECK_THAT(f.Params(R"({"first":"a","second":2})"), Catch::Contains("[\"a\",2,null]"));
    CHECK_THAT(f.Params(R"({"first":"a","other":2})"), Catch::Contains("[\"a\",2,null]"));
    CHECK_THAT(f.Params(R"({"first":"a","deep":true})"), Catch::Contains("[\"a\",7,true]"));
    CHECK_THAT(f.Params(R"({"args":["a"],"second":2})"), Catch::Contains("[\"a\",2,null]"));
    CHECK_THAT(f.Params(R"({"nothing":1})"), Catch::Contains("Unknown named parameter nothing"));
    CHECK_THAT(f.Params(R"({"args":["a"],"first":"b"})"),
               Catch::Contains("specified twice both as positional and named argument"));
    CHECK_THAT(f.Params(R"({"first":"a","first":"b"})"),
               Catch::Contains("Parameter first specified multiple times"));
    CHECK_THAT(f.Params(R"({"first":"a","options":{},"deep":true})"), Catch::Contains("conflicts"));
}

TEST_CASE("while the node starts, calls get its status, some an answer")
{
    Fixture f;
    f.table.SetWarmup("Loading...");
    const RpcReply r = f.Ask(R"({"id":1,"method":"echo","params":["a"]})");
    CHECK(r.http_status == 500);
    CHECK_THAT(r.body, Catch::Contains("{\"code\":-28,\"message\":\"Loading...\"}"));
    CHECK_THAT(f.Ask(R"({"id":1,"method":"early"})").body, Catch::Contains("yes"));
}

TEST_CASE("help lists calls by category and explains one")
{
    Fixture f;
    CHECK(f.table.Help("") == "== Other ==\nearly\nfail\n\n== Test ==\n"
                              "echo \"first\" ( second {\"deep\":bool,...} )");
    CHECK_THAT(f.table.Help("echo"), Catch::Contains("1. first") && Catch::Contains("default=7"));
    CHECK(f.table.Help("nope") == "help: unknown command: nope");
}

TEST_CASE("hashes and hex in arguments")
{
    const auto message = [](auto&& call) -> std::string {
        try {
            call();
        } catch (const RpcError& error) {
            return error.message;
        }
        return "";
    };
    CHECK(message([] { ParseHash(UniValue("12"), "blockhash"); }) ==
          "blockhash must be of length 64 (not 2, for '12')");
    CHECK(message([] { ParseHash(UniValue(std::string(64, 'g')), "x"); }) ==
          "x must be hexadecimal string (not '" + std::string(64, 'g') + "')");
    CHECK(message([] { ParseHash(UniValue(std::string(64, 'a')), "x"); }).empty());
    CHECK(ParseHash(UniValue("01" + std::string(62, '0')), "x").data()[31] == 1);
}
