// Conversion of words to arguments, -getinfo's text, and the exit codes of bitcoin-cli without a
// node.
#include "cli/get_info.h"
#include "cli/http_client.h"
#include "cli/net_info.h"
#include "cli/param_table.h"
#include "cli/run_cli.h"
#include "cli/target.h"
#include "support/must.h"
#include "support/option_checks.h"
#include "support/temp_dir.h"

#include <sstream>

#include "support/catch.h"

using namespace ibd;
using ibd::test::CliRun;
using ibd::test::Must;
using ibd::test::RunCliWith;
using ibd::test::TempDir;
using ibd::test::Words;

namespace {

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

TEST_CASE("help of bitcoin-cli states the defaults that the fields have")
{
    CHECK(test::WrongDefaults(CliTopic().rows, CliOptions()).empty());
    CHECK(Must(ReadCliOptions(ArgsManager())).wallet == std::nullopt);
}

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
    // A height or a hash: a word that is not JSON is text.
    CHECK(Positional("getblockstats", {"00ab"}) == "[\"00ab\"]");
    CHECK(Positional("gettxoutsetinfo", {"muhash", "170"}) == "[\"muhash\",170]");
    CHECK_THAT(Positional("getblockhash", {"x"}),
               Catch::StartsWith("error: Error parsing JSON: x"));
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
    // The server refuses it; ours and Core's say so.
    CHECK(Named("getblock", {"00", "args=[]"}) == "{\"args\":\"[]\",\"args\":[\"00\"]}");
    CHECK(Named("dumptxoutset", {"f", "rollback=100"}) == "{\"rollback\":100,\"args\":[\"f\"]}");
    CHECK(Named("dumptxoutset", {"rollback=00ff"}) == "{\"rollback\":\"00ff\"}");
    CHECK_THAT(Named("getblockhash", {"height=x"}), Catch::StartsWith("error"));
}

TEST_CASE("the table of conversions knows the calls of other nodes too")
{
    CHECK(Positional("sendtoaddress", {"a", "0.1", "c", "d", "true", "null", "6"}) ==
          R"(["a",0.1,"c","d",true,null,6])");
    CHECK(Positional("walletprocesspsbt", {"cHNi==", "true", "ALL"}) == R"(["cHNi==",true,"ALL"])");
    CHECK(Named("walletprocesspsbt", {"cHNi==", "sign=true"}) ==
          R"({"sign":true,"args":["cHNi=="]})");
    CHECK(Named("fundrawtransaction", {"00", "feeRate=0.1", "solving_data={}"}) ==
          R"({"feeRate":0.1,"solving_data":{},"args":["00"]})");
    CHECK(Named("createwallet", {"a=b", "blank=true"}) == R"({"blank":true,"args":["a=b"]})");
    CHECK(IsJsonParam("getblock", "verbose"));
    CHECK(IsJsonParam("getblock", 1));
    CHECK(IsJsonParam("dumptxoutset", "in_memory"));
    CHECK_FALSE(IsJsonParam("getblock", 0));
    CHECK_FALSE(IsJsonParam("getblock", 2));
    CHECK_FALSE(IsJsonParam("send", 2));
    CHECK_FALSE(IsJsonParam("send", "-"));
    CHECK_FALSE(IsJsonParam("dumptxoutset", "path"));
}

TEST_CASE("-netinfo shows peers, best pings first, and counts them")
{
    CHECK((*ReadNetInfoWords({})).level == 0);
    CHECK((*ReadNetInfoWords({"255"})).level == 4);
    CHECK((*ReadNetInfoWords({"1", "o"})).outbound_only);
    CHECK((*ReadNetInfoWords({"h"})).help);
    for (const Words& words :
         {Words{"256"}, Words{"-1"}, Words{"x"}, Words{"1", "x"}, Words{"0", "o"}}) {
        CHECK_FALSE(ReadNetInfoWords(words).Ok());
    }
    UniValue json;
    REQUIRE(json.read(R"([{"id":0,"result":[
        {"id":11,"network":"ipv4","inbound":false,"connection_type":"block-relay-only",
         "addr":"8.8.8.8:1",
         "servicesnames":["NETWORK","WITNESS","NETWORK_LIMITED","P2P_V2"],"minping":0.0504,
         "pingtime":1000.5,"lastsend":90,"lastrecv":100,"last_transaction":0,"last_block":40,
         "relaytxes":false,"bip152_hb_to":true,"bip152_hb_from":true,"addr_processed":0,
         "addr_rate_limited":0,"addr_relay_enabled":false,"conntime":40,"version":70017,
         "subver":"/a/","transport_protocol_type":"v2","mapped_as":5},
        {"id":2,"network":"not_publicly_routable","inbound":true,"connection_type":"inbound",
         "addr":"127.0.0.1:2","servicesnames":[],"lastsend":0,"lastrecv":0,"last_transaction":0,
         "last_block":0,"relaytxes":true,"bip152_hb_to":false,"bip152_hb_from":false,
         "addr_processed":7,"addr_rate_limited":1,"addr_relay_enabled":true,"conntime":100,
         "version":0,"subver":"","transport_protocol_type":"detecting"}]},
        {"id":1,"result":{"protocolversion":70017,"subversion":"/b/",
         "localservicesnames":["NETWORK","NETWORK_LIMITED"],"localaddresses":[
         {"address":"1.2.3.4","port":8333,"score":4}],"networks":[
         {"name":"ipv4","reachable":true},{"name":"onion","reachable":false}]}}])"));
    const NetInfoAnswers answers = *ReadNetInfo(json);
    CHECK(answers.error.isNull());
    const std::string counts = "         ipv4     npr   total   block\n"
                               "in          0       1       1\n"
                               "out         1       0       1       1\n"
                               "total       1       1       2";
    const std::string local = "\n\nLocal addresses\n1.2.3.4     port   8333    score      4";
    CHECK(NetInfoText(answers, {}, "c", 100) ==
          "c - server 70017/b/\n\n" + counts +
              "\n\nLocal services: network, network limited" + local);
    CHECK(NetInfoText(answers, {4, false, false}, "c", 100) ==
          "c - server 70017/b/ - services nl\n\n"
          "<->   type   net   serv  v  mping   ping send recv  txn  blk  hb addrp addrl  "
          "age  asmap id address     version\n"
          " in          npr                                                     7     1  "
          "  0         2 127.0.0.1:2 \n"
          "out  block  ipv4   nwl2  2     50      -   10    0    *    1  .*     .        "
          "  1      5 11 8.8.8.8:1   70017/a/\n"
          "                               ms     ms  sec  sec  min  min                  "
          "min\n\n" +
              counts + local);
    UniValue known;
    REQUIRE(known.read(R"({"ipv4":{"new":1,"tried":2,"total":3},"all_networks":{"total":3}})"));
    CHECK(AddrInfo(known).write() == R"({"addresses_known":{"ipv4":3,"total":3}})");
}

TEST_CASE("-getinfo says where the node stands, or what went wrong")
{
    CHECK(GetInfoBatch().size() == 5);
    UniValue json;
    REQUIRE(json.read(R"([{"id":1,"result":{"chain":"main","blocks":5,"headers":9,
        "verificationprogress":0.26,"difficulty":1.5,"warnings":[]}},
        {"id":0,"result":{"version":310000,"connections":3,"connections_in":1,"connections_out":2,
        "networks":[{"name":"ipv4","proxy":"p:1"},{"name":"onion","proxy":"p:2"},
        {"name":"ipv6","proxy":"p:1"},{"name":"i2p","proxy":""}],
        "timeoffset":0,"relayfee":0.00000100,"warnings":["a","b"]}},
        {"id":2,"error":{"code":-32601}},{"id":3,"error":{"code":-32601}}])"));
    auto answers = *ReadGetInfo(json);
    const std::string before =
        "Chain: main\nBlocks: 5\nHeaders: 9\n"
        "Verification progress: ▒▒▒▒▒▒░░░░░░░░░░░░░░░ 26.0000%\nDifficulty: 1.5\n\n"
        "Network: in 1, out 2, total 3\nVersion: 310000\nTime offset (s): 0\n"
        "Proxies: p:1 (ipv4, ipv6), p:2 (onion)\n"
        "Min tx relay fee rate (BTC/kvB): 0.00000100\n\n";
    CHECK(GetInfoText(answers, false) == before + "Warnings: a\nb");
    CHECK(answers.error.isNull());
    const std::string coloured = GetInfoText(answers, true);
    CHECK_THAT(coloured, Catch::StartsWith("\x1b[34mChain: main\x1b[0m\nBlocks: 5\n"));
    CHECK_THAT(coloured, Catch::EndsWith("\x1b[33mWarnings:\x1b[0m a\nb"));
    REQUIRE(answers.wallet.read(R"({"walletname":"","keypoolsize":7,"unlocked_until":0})"));
    answers.balance.setNumStr("1.5");
    answers.balances = {{"", "1.50000000"}, {"w", "10.00000000"}};
    CHECK(GetInfoText(answers, false) ==
          before + "Wallet: \"\"\nKeypool size: 7\nUnlocked until: 0\nBalance: 1.5\n\n"
                   "Balances\n 1.50000000 \"\"\n10.00000000 w\n\nWarnings: a\nb");
    const auto booster = [&](const char* info) {
        GetInfoAnswers at_work = *ReadGetInfo(json);
        REQUIRE(at_work.booster.read(info));
        const std::string text = GetInfoText(at_work, false);
        const size_t line = text.find("Booster: ");
        return line == text.npos ? "" : text.substr(line, text.find('\n', line) - line);
    };
    CHECK(booster(R"({"state":"off"})").empty());
    CHECK(booster(R"({"state":"accepted"})").empty());
    CHECK(booster(R"({"state":"waiting","headers":7})") ==
          "Booster: waiting for headers, 7 of them known");
    CHECK(booster(R"({"state":"folding","folded":3,"terminalblock":{"height":9}})") ==
          "Booster: folding, 3 of 9 blocks");
    CHECK(booster(R"({"state":"folding","folded":3,"terminalblock":{"height":9},
        "download":{"received":4,"blocks":8,"peers":2,"rate":1500000}})") ==
          "Booster: folding, 3 of 9 blocks, 4 of 8 fetched from 2 peers, 1.5 MB/s");
    CHECK(booster(R"({"state":"loading","coinsloaded":3,"coinsexpected":5})") ==
          "Booster: loading, 3 of 5 coins");
    REQUIRE(json.read(R"([{"id":0,"error":{"code":-28,"message":"wait"}}])"));
    CHECK((*ReadGetInfo(json)).error["code"].get_int() == -28);
    REQUIRE(json.read(R"([{"id":5}])"));
    CHECK_FALSE(ReadGetInfo(json).Ok());
    CHECK_FALSE(ReadGetInfo(UniValue()).Ok());
}

TEST_CASE("answers of servers, with a length, in chunks, to the end, or broken")
{
    const auto parsed = [](const char* text) {
        const auto answer = ParseHttpAnswer(text);
        return answer.Ok() ? fmt::format("{} {}", answer->status, answer->body) : answer.Message();
    };
    CHECK(parsed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc") == "200 ab");
    CHECK(parsed("HTTP/1.0 500 x\r\n\r\nabc") == "500 abc");
    CHECK(parsed("HTTP/1.1 200\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n2;x\r\nbc\r\n0\r\n"
                 "\r\n") == "200 abc");
    CHECK(parsed("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n"
                 "\r\n") == "200 a");
    CHECK(parsed("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na") == "EOF");
    CHECK(parsed("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n") == "EOF");
    CHECK(parsed("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n") ==
          "HTTP error: Invalid chunk size");
    CHECK(parsed("HTTP/1.1 200\r\nContent-Length: 9\r\n\r\nabc") == "EOF");
    CHECK(parsed("HTTP/1.1 200\r\nContent-Length: x\r\n\r\n") ==
          "HTTP error: Invalid Content-Length");
    CHECK(parsed("hello\r\n\r\n") == "HTTP error: Invalid status line");
    CHECK(parsed("HTTP/1.1 abc\r\n\r\n") == "HTTP error: Invalid status code");
    CHECK(parsed("") == "EOF");
}

TEST_CASE("help and version succeed; what cannot work fails with a reason")
{
    const TempDir dir;
    const std::string datadir = "-datadir=" + dir.Get().string();
    CHECK(RunCliWith({"-help"}).exit_code == 0);
    CHECK_THAT(RunCliWith({"-help"}).out, Catch::Contains("-rpcwait"));
    CHECK_THAT(RunCliWith({"-version"}).out, Catch::Contains("ibd-booster RPC client version"));
    CHECK(RunCliWith({}).exit_code == 1);
    const auto fails = [&](Words words, const std::string& because, const std::string& input = "") {
        words.insert(words.begin(), datadir);
        const CliRun run = RunCliWith(words, input);
        CHECK(run.exit_code == 1);
        CHECK(run.out.empty());
        CHECK_THAT(run.error, Catch::Contains(because));
    };
    fails({}, "error: too few parameters (need at least command)\n");
    fails({"-nosuchoption"}, "Error parsing command line arguments: ");
    fails({"-getinfo", "x"}, "error: -getinfo takes no arguments\n");
    fails({"-stdinrpcpass", "getblockcount"},
          "error: -stdinrpcpass specified but failed to read from standard input\n");
    fails({"-stdinwalletpassphrase", "getblockcount"},
          "error: -stdinwalletpassphrase is only applicable for walletpassphrase(change)\n");
    fails({"-color=red", "-getinfo"},
          "error: Invalid value for -color option. Valid values: always, auto, never.\n");
    fails({"-norpcid", "getblockcount"}, "-rpcid");
    fails({"-rpcport=0", "getblockcount"}, "error: Invalid port provided in -rpcport: 0\n");
    fails({"-rpcconnect=127.0.0.1:99999", "getblockcount"},
          "error: Invalid port provided in -rpcconnect: 127.0.0.1:99999\n");
    fails({"-regtest", "-signet", "getblockcount"}, "");
    fails({"-stdin", "getblockhash"}, "error: Error parsing JSON: abc\n", "abc\n");
    CHECK(RunCliWith({"-datadir=/nonexistent", "stop"}).error ==
          "Error: Specified data directory \"/nonexistent\" does not exist.\n");
    CHECK(RunCliWith({}).error == "Error: too few parameters\n");
    // Port 1 has no listener, and the reserved name has no host.
    const std::string advice = "\n\nMake sure the bitcoind server is running and that you are "
                               "connecting to the correct RPC "
                               "port.\nUse \"bitcoin-cli -help\" for more info.\n";
    fails({"-rpcport=1", "getblockcount"},
          "error: Error while attempting to communicate with server 127.0.0.1:1 (Could not connect "
          "to the server)" +
              advice);
    fails({"-rpcconnect=host.invalid:1", "getblockcount"},
          "server host.invalid:1 (Could not resolve host: host.invalid)" + advice);
    fails({"-rpcconnect=127.0.0.1:2", "-rpcport=1", "getblockcount"},
          "Warning: Port specified in both -rpcconnect and -rpcport. Using -rpcport 1\n");
    fails({"-rpcport=1", "-rpcwait", "-rpcwaittimeout=1", "getblockcount"},
          "error: timeout on transient error: Error while attempting");
}
