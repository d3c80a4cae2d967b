// Conversion of words to arguments, -getinfo's text, and the ends of bitcoin-cli without a node.
#include "cli/app.h"
#include "cli/get_info.h"
#include "cli/param_table.h"
#include "support/temp_dir.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace ibd;
using ibd::test::TempDir;
using Words = std::vector<std::string>;

namespace {

struct Run {
    int exit_code;
    std::string out;
    std::string error;
};

Run RunWith(Words words, const std::string& input = "")
{
    words.insert(words.begin(), "bitcoin-cli");
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream error;
    const auto env = MakePosixEnv();
    const int code = RunCli(*env, static_cast<int>(argv.size()), argv.data(), {in, out, error});
    return {code, out.str(), error.str()};
}

std::string Positional(const std::string& method, const Words& words)
{
    const auto params = ConvertPositional(method, words);
    return params.Ok() ? params->write() : "error: " + params.Message();
}

std::string Named(const std::string& method, const Words& words)
{
    const auto params = ConvertNamed(method, words);
    return params.Ok() ? params->write() : "error: " + params.Message();
}

} // namespace

TEST_CASE("with -named a word with = in it may still be a value")
{
    // A path that has none of the names before its =.
    CHECK(Named("dumptxoutset", {"a=b.dat", "rollback=170"}) ==
          R"({"rollback":170,"args":["a=b.dat"]})");
    CHECK(Named("dumptxoutset", {"path=a=b.dat", "type=latest"}) ==
          R"({"path":"a=b.dat","type":"latest"})");
    CHECK(Named("logging", {R"(["a=b"])", "exclude=[]"}) == R"({"exclude":[],"args":[["a=b"]]})");
    // Names that the table does not know are left to the node.
    CHECK(Named("getblock", {"blockhash=00", "some=1"}) == R"({"blockhash":"00","some":"1"})");
}

TEST_CASE("words become JSON where the call takes it")
{
    CHECK(Positional("getblockhash", {"5"}) == "[5]");
    CHECK(Positional("getblock", {"00", "2"}) == "[\"00\",2]");
    CHECK(Positional("getblock", {"00", "true"}) == "[\"00\",true]");
    CHECK(Positional("echo", {"5", "true"}) == "[\"5\",\"true\"]");
    CHECK(Positional("getblockstats", {"7", "[\"txs\"]"}) == "[7,[\"txs\"]]");
    // A height or a hash: what is no JSON is text.
    CHECK(Positional("getblockstats", {"00ab"}) == "[\"00ab\"]");
    CHECK(Positional("gettxoutsetinfo", {"muhash", "170"}) == "[\"muhash\",170]");
    CHECK_THAT(Positional("getblockhash", {"x"}), Catch::StartsWith("error: 'x'"));
    CHECK_THAT(Positional("getblockhash", {"1,2"}), Catch::StartsWith("error"));
    CHECK_THAT(Positional("getblockhash", {""}), Catch::StartsWith("error"));
}

TEST_CASE("named words, the later one wins, words without = are positional")
{
    CHECK(Named("getblock", {"blockhash=00", "verbosity=2"}) ==
          "{\"blockhash\":\"00\",\"verbosity\":2}");
    CHECK(Named("getblock", {"blockhash=a=b"}) == "{\"blockhash\":\"a=b\"}");
    CHECK(Named("getblock", {"verbose=1", "verbose=2"}) == "{\"verbose\":2}");
    CHECK(Named("getblock", {"00", "verbosity=2"}) == "{\"verbosity\":2,\"args\":[\"00\"]}");
    CHECK(Named("dumptxoutset", {"f", "rollback=100"}) == "{\"rollback\":100,\"args\":[\"f\"]}");
    CHECK(Named("dumptxoutset", {"rollback=00ff"}) == "{\"rollback\":\"00ff\"}");
    CHECK_THAT(Named("getblockhash", {"height=x"}), Catch::StartsWith("error"));
}

TEST_CASE("-getinfo says where the node stands, or what went wrong")
{
    CHECK(GetInfoBatch().size() == 2);
    UniValue answers;
    REQUIRE(answers.read(R"([{"id":1,"result":{"chain":"main","blocks":5,"headers":9,
        "verificationprogress":0.25,"difficulty":1.5,"warnings":[]}},
        {"id":0,"result":{"version":100,"connections":3,"connections_in":1,"connections_out":2,
        "timeoffset":0,"relayfee":0.00000100,"warnings":["a","b"]}}])"));
    UniValue error;
    CHECK(GetInfoText(answers, false, error) ==
          "Chain: main\nBlocks: 5\nHeaders: 9\n"
          "Verification progress: ▒▒▒▒▒░░░░░░░░░░░░░░░ 25.0000%\nDifficulty: 1.5\n\n"
          "Network: in 1, out 2, total 3\nVersion: 100\nTime offset (s): 0\nProxies: n/a\n"
          "Min tx relay fee rate (BTC/kvB): 0.00000100\n\nWarnings: a\nb");
    CHECK(error.isNull());
    const std::string coloured = GetInfoText(answers, true, error);
    CHECK_THAT(coloured, Catch::StartsWith("\x1b[34mChain: main\x1b[0m\nBlocks: 5\n"));
    CHECK_THAT(coloured, Catch::EndsWith("\x1b[33mWarnings: a\nb\x1b[0m"));
    REQUIRE(answers.read(R"([{"id":0,"error":{"code":-28,"message":"wait"}}])"));
    CHECK(GetInfoText(answers, false, error).empty());
    CHECK(error["code"].get_int() == -28);
}

TEST_CASE("help and version succeed; what cannot work fails with a reason")
{
    const TempDir dir;
    const std::string datadir = "-datadir=" + dir.Get().string();
    CHECK(RunWith({"-help"}).exit_code == 0);
    CHECK_THAT(RunWith({"-help"}).out, Catch::Contains("-rpcwait"));
    CHECK_THAT(RunWith({"-version"}).out, Catch::Contains("ibd-booster RPC client version"));
    CHECK(RunWith({}).exit_code == 1);
    const auto fails = [&](Words words, const std::string& because, const std::string& input = "") {
        words.insert(words.begin(), datadir);
        const Run run = RunWith(words, input);
        CHECK(run.exit_code == 1);
        CHECK(run.out.empty());
        CHECK_THAT(run.error, Catch::Contains(because));
    };
    fails({}, "which call?");
    fails({"-nosuchoption"}, "-nosuchoption");
    fails({"-getinfo", "x"}, "-getinfo takes no arguments");
    fails({"-stdinrpcpass", "getblockcount"}, "standard input is empty");
    fails({"-color=red", "-getinfo"}, "-color=red: must be always, never or auto");
    fails({"-norpcid", "getblockcount"}, "-rpcid cannot be negated");
    fails({"-rpcport=0", "getblockcount"}, "'0' is no valid port");
    fails({"-rpcconnect=127.0.0.1:99999", "getblockcount"}, "'99999' is no valid port");
    fails({"-rpcconnect=[::1", "getblockcount"}, "no ]");
    fails({"-regtest", "-signet", "getblockcount"}, "only one of");
    fails({"-stdin", "getblockhash"}, "'abc' is not valid JSON", "abc\n");
    CHECK_THAT(RunWith({"-datadir=/nonexistent", "stop"}).error, Catch::Contains("/nonexistent"));
    // Nobody listens at port 1.
    fails({"-rpcport=1", "getblockcount"}, "cannot reach a node at 127.0.0.1:1");
    fails({"-rpcport=1", "-rpcwait", "-rpcwaittimeout=1", "getblockcount"}, "timeout");
}
