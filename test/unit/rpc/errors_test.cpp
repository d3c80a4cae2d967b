// Errors of calls in Core's words and with its codes, and answers that Core's test data have.
#include "rpc/calls_kit.h"
#include "support/testdata.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

const std::string kZeros(64, '0');
const std::string kNoHex(64, 'z');

struct Refusal {
    const char* method;
    std::string params;
    std::string text;
};

void CheckRefusals(CallsKit& kit, const std::vector<Refusal>& refusals)
{
    for (const Refusal& refusal : refusals) {
        INFO(refusal.method << " " << refusal.params);
        CHECK(kit.Outcome(refusal.method, refusal.params) == refusal.text);
    }
}

std::string Quoted(const std::string& text, const std::string& rest = "")
{
    return "[\"" + text + "\"" + rest + "]";
}

} // namespace

TEST_CASE_METHOD(CallsKit, "blocks and heights that are none")
{
    const std::string of_length = " must be of length 64 (not 2, for '00')";
    const std::string hexadecimal = " must be hexadecimal string (not '" + kNoHex + "')";
    CheckRefusals(
        *this,
        {{"getblockhash", "[-1]", "-8: Block height out of range"},
         {"getblockhash", "[111]", "-8: Block height out of range"},
         {"getblockhash", "[2147483648]", "-1: JSON integer out of range"},
         {"getblock", Quoted("00"), "-8: blockhash" + of_length},
         {"getblock", Quoted(kNoHex), "-8: blockhash" + hexadecimal},
         {"getblock", Quoted(kZeros), "-5: Block not found"},
         {"getblockheader", Quoted("00"), "-8: hash" + of_length},
         {"getblockheader", Quoted(kZeros), "-5: Block not found"},
         {"getblockstats", "[-1]", "-8: Target block height -1 is negative"},
         {"getblockstats", "[111]", "-8: Target block height 111 after current tip 110"},
         {"getblockstats", Quoted(kZeros), "-5: Block not found"},
         {"getblockstats", R"([1,["aaa"]])", "-8: Invalid selected statistic 'aaa'"},
         {"getchaintxstats", "[-1]",
          "-8: Invalid block count: should be between 0 and the block's height - 1"},
         {"getchaintxstats", "[110]",
          "-8: Invalid block count: should be between 0 and the block's height - 1"},
         {"getchaintxstats", Quoted(kZeros).insert(1, "1,"), "-5: Block not found"},
         {"getdeploymentinfo", Quoted(kZeros), "-5: Block not found"},
         {"invalidateblock", Quoted(kZeros), "-5: Block not found"},
         {"reconsiderblock", Quoted(kZeros), "-5: Block not found"},
         {"preciousblock", Quoted(kZeros), "-5: Block not found"},
         {"pruneblockchain", "[1]", "-1: Cannot prune blocks because node is not in prune mode."},
         {"waitforblock", Quoted("00"), "-8: blockhash" + of_length},
         {"waitforblock", Quoted(kZeros, ",-1"), "-1: Negative timeout"},
         {"waitforblockheight", "[1,-1]", "-1: Negative timeout"},
         {"waitfornewblock", "[-1]", "-1: Negative timeout"},
         {"gettxoutsetinfo", Quoted("sha1"), "-8: 'sha1' is not a valid hash_type"},
         {"scantxoutset", Quoted("foo"), "-8: Invalid action 'foo'"},
         {"scantxoutset", Quoted("start"),
          "-1: scanobjects argument is required for the start action"},
         {"submitblock", Quoted("00"), "-22: Block decode failed"},
         {"submitheader", Quoted("00"), "-22: Block header decode failed"},
         {"submitheader", Quoted(std::string(160, '0')),
          "-25: Must submit previous header (" + kZeros + ") first"}});
}

TEST_CASE_METHOD(CallsKit, "transactions that are none, or are not there")
{
    const std::string undecodable =
        "-22: TX decode failed. Make sure the tx has at least one input.";
    CheckRefusals(
        *this,
        {{"getrawtransaction", Quoted(kZeros),
          "-5: No such mempool transaction. Use -txindex or provide a block hash to enable "
          "blockchain transaction queries. Use gettransaction for wallet transactions."},
         {"getrawtransaction", Quoted(kZeros, ",0,\"" + Tip() + "\""),
          "-5: No such transaction found in the provided block. Use gettransaction for wallet "
          "transactions."},
         {"getrawtransaction", Quoted(kZeros, ",0,\"" + kZeros + "\""), "-5: Block hash not found"},
         {"decoderawtransaction", Quoted("00"), "-22: TX decode failed"},
         {"sendrawtransaction", Quoted("00"), undecodable},
         {"getmempoolentry", Quoted(kZeros), "-5: Transaction not in mempool"},
         {"getmempoolancestors", Quoted(kZeros), "-5: Transaction not in mempool"},
         {"testmempoolaccept", "[[]]", "-8: Array must contain between 1 and 25 transactions."},
         {"combinerawtransaction", "[[]]",
          "-22: Missing transactions. At least two transactions required."},
         {"gettxoutproof", "[[]]", "-8: Parameter 'txids' cannot be empty"},
         {"gettxoutproof", "[[\"" + kZeros + "\",\"" + kZeros + "\"]]",
          "-8: Invalid parameter, duplicated txid: " + kZeros},
         {"gettxoutproof", "[[\"" + kZeros + "\"],\"" + kZeros + "\"]", "-5: Block not found"},
         {"gettxout", Quoted(kZeros, ",0"), "null"},
         {"gettxout", Quoted("00", ",0"), "-8: txid must be of length 64 (not 2, for '00')"}});
}

TEST_CASE_METHOD(CallsKit, "transactions and PSBTs that cannot be made")
{
    const std::string input = "[{\"txid\":\"" + kZeros + "\",\"vout\":0}]";
    const std::string address = "bcrt1q6rhpng9evdsfnn833a4f4vej0asu6dk5srld6x";
    for (const char* method : {"createrawtransaction", "createpsbt"}) {
        CheckRefusals(
            *this,
            {{method, "[[{\"txid\":\"x\"}],{}]", "-8: txid must be of length 64 (not 1, for 'x')"},
             {method, "[[{\"txid\":\"" + kZeros + "\"}],{}]",
              "-8: Invalid parameter, missing vout key"},
             {method, "[[{\"txid\":\"" + kZeros + "\",\"vout\":-1}],{}]",
              "-8: Invalid parameter, vout cannot be negative"},
             {method, "[[{\"txid\":\"" + kZeros + "\",\"vout\":0,\"sequence\":4294967296}],{}]",
              "-8: Invalid parameter, sequence number is out of range"},
             {method, "[" + input + ",{\"foo\":1}]", "-5: Invalid Bitcoin address: foo"},
             {method, "[" + input + ",[{\"" + address + "\":1},{\"" + address + "\":1}]]",
              "-8: Invalid parameter, duplicated address: " + address},
             {method, "[" + input + ",[{\"data\":\"00\"},{\"data\":\"00\"}]]",
              "-8: Invalid parameter, duplicate key: data"},
             {method, "[" + input + ",[{\"a\":1,\"b\":1}]]",
              "-8: Invalid parameter, key-value pair must contain exactly one key"},
             {method, "[" + input + ",{\"" + address + "\":-1}]", "-3: Amount out of range"},
             {method, "[" + input + ",{\"" + address + "\":\"x\"}]", "-3: Invalid amount"},
             {method, "[" + input + ",{\"data\":\"x\"}]",
              "-8: Data must be hexadecimal string (not 'x')"},
             {method, "[" + input + ",{},-1]", "-8: Invalid parameter, locktime out of range"},
             {method, "[" + input + ",{},4294967296]",
              "-8: Invalid parameter, locktime out of range"}});
    }
    const std::string no_base64 = "-22: TX decode failed invalid base64";
    for (const char* method : {"decodepsbt", "analyzepsbt", "finalizepsbt", "utxoupdatepsbt"}) {
        CheckRefusals(*this, {{method, Quoted("!"), no_base64}});
    }
    const std::string psbt =
        CallsKit::Parse(Outcome("createpsbt", "[" + input + ",{\"data\":\"00\"}]")).get_str();
    CheckRefusals(*this, {{"combinepsbt", "[[]]", "-8: Parameter 'txs' cannot be empty"},
                          {"combinepsbt", "[[\"!\"]]", no_base64},
                          {"joinpsbts", "[[\"" + psbt + "\"]]",
                           "-8: At least two PSBTs are required to join PSBTs."},
                          {"descriptorprocesspsbt", Quoted(psbt, ",[],\"FOO\""),
                           "-8: 'FOO' is not a valid sighash parameter."}});
}

TEST_CASE_METHOD(CallsKit, "keys, addresses, descriptors and messages that are none")
{
    const std::string key = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    CheckRefusals(
        *this,
        {{"createmultisig", "[0,[\"" + key + "\"]]",
          "-8: a multisignature address must require at least one key to redeem"},
         {"createmultisig", "[2,[\"" + key + "\"]]",
          "-8: not enough keys supplied (got 1 keys, but need at least 2 to redeem)"},
         {"createmultisig", "[1,[\"" + key + "\"],\"foo\"]", "-5: Unknown address type 'foo'"},
         {"deriveaddresses", Quoted("wpkh(" + key + ")"), "-5: Missing checksum"},
         {"getdescriptorinfo", Quoted(""), "-5: '' is not a valid descriptor function"},
         {"signmessagewithprivkey", R"(["x","m"])", "-5: Invalid private key"},
         {"verifymessage", R"(["x","AAAA","m"])", "-5: Invalid address"},
         {"verifymessage", R"(["mkHV1C6JLheLoUSSZYk7x3FH5tnx9bu7yc","!","m"])",
          "-3: Malformed base64 encoding"},
         {"generatetoaddress", R"([1,"x"])", "-5: Error: Invalid address"},
         {"generateblock", R"(["x",[]])", "-5: Error: Invalid address or descriptor"},
         {"estimatesmartfee", "[0]", "-8: Invalid conf_target, must be between 1 and 1008"},
         {"getblocktemplate", "[{}]",
          "-8: getblocktemplate must be called with the segwit rule set (call with {\"rules\": "
          "[\"segwit\"]})"},
         {"setmocktime", "[-1]", "-8: Mocktime must be in the range [0, 4294967295], not -1."},
         {"logging", R"([["foo"]])", "-8: unknown logging category foo"},
         {"getmemoryinfo", Quoted("foo"), "-8: unknown mode foo"},
         {"addnode", R"(["a","foo"])", "-1: " + calls.table.Find("addnode")->Help()}});
}

TEST_CASE_METHOD(CallsKit, "without a network, peers or coins the calls say so")
{
    for (const std::string& name : Names(calls.table)) {
        if (calls.table.Find(name)->category != "network") continue;
        INFO(name);
        const auto& args = calls.table.Find(name)->args;
        if (std::ranges::any_of(args, &RpcArg::required)) continue;
        if (name == "getnetworkinfo") continue; // shows what there is
        CHECK(Outcome(name) == "-31: Error: Peer-to-peer functionality missing or disabled");
    }
    calls.chain.chain = nullptr;
    CHECK(Outcome("getblockcount").starts_with("-28: "));
    CHECK(Outcome("gettxoutsetinfo").starts_with("-28: "));
}

TEST_CASE("calls before the chain is there, and unknown ones")
{
    const auto env = MakePosixEnv();
    const ChainParams params = MakeChainParams(Network::kRegtest);
    StandaloneCalls calls(*env, params);
    const auto outcome = [&](const char* method) -> std::string {
        try {
            calls.table.Execute(method, UniValue(UniValue::VARR));
        } catch (const RpcError& error) {
            return fmt::format("{}: {}", static_cast<int>(error.code), error.message);
        }
        return "answered";
    };
    calls.table.SetWarmup("Loading…");
    CHECK(outcome("uptime") == "answered");
    CHECK(outcome("getboosterinfo") == "answered");
    CHECK(outcome("getblockcount") == "-28: Loading…");
    CHECK(outcome("nosuchcall") == "-28: Loading…");
    calls.table.OpenNetworkCalls();
    CHECK(outcome("help") == "answered");
    CHECK(outcome("nosuchcall") == "-32601: Method not found");
    CHECK(outcome("gettxoutsetinfo") == "-28: Loading…");
    calls.table.EndWarmup();
    CHECK(outcome("getrpcinfo") == "answered");
}

TEST_CASE_METHOD(CallsKit, "decodescript answers as Core for its vectors")
{
    const auto path = TestData("core/rpc_decodescript.json");
    if (!path) return;
    const UniValue vectors = ReadTestJson(*path);
    size_t compared = 0;
    for (const UniValue& vector : vectors.getValues()) {
        UniValue params(UniValue::VARR);
        params.push_back(vector[0]);
        INFO(vector[0].get_str());
        const UniValue answer = Execute("decodescript", params);
        for (const char* key : {"asm", "type", "address", "p2sh"}) {
            if (vector[1].exists(key)) CHECK(answer[key].write() == vector[1][key].write());
        }
        ++compared;
    }
    CHECK(compared > 5);
}

TEST_CASE_METHOD(CallsKit, "createmultisig sorts nothing, sortedmulti as BIP 67 asks")
{
    const auto path = TestData("core/rpc_bip67.json");
    if (!path) return;
    const UniValue vectors = ReadTestJson(*path);
    for (const UniValue& vector : vectors.getValues()) {
        const UniValue& sorted = vector["sorted_keys"];
        UniValue params(UniValue::VARR);
        params.push_back(2);
        params.push_back(sorted);
        const UniValue made = Execute("createmultisig", params);
        CHECK(made["redeemScript"].get_str() == vector["script"].get_str());
        CHECK(
            Execute("decodescript", Parse(Quoted(vector["script"].get_str())))["p2sh"].get_str() ==
            made["address"].get_str());
    }
}
