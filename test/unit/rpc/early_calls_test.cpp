// Which calls wait for the chainstate. A new call that needs neither coins nor a tip belongs to
// RpcTable::AnswerEarly(), any other into the list below.
#include "rpc/calls_kit.h"

#include <set>

#include "support/catch.h"

using namespace ibd;
using ibd::test::CallsKit;

TEST_CASE("only calls that need coins or a tip, or change more than time and peers, wait for them")
{
    const std::set<std::string> needs_coins = {"combinerawtransaction",
                                               "descriptorprocesspsbt",
                                               "dumptxouthints",
                                               "dumptxoutset",
                                               "gettxout",
                                               "gettxoutsetinfo",
                                               "scantxoutset",
                                               "signrawtransactionwithkey",
                                               "utxoupdatepsbt",
                                               "verifychain"};
    const std::set<std::string> needs_tip_or_undo = {"getblockfilter",
                                                     "getblockfrompeer",
                                                     "getblockstats",
                                                     "getblocktemplate", "getdescriptoractivity",
                                                     "scanblocks",
                                                     "waitforblock",
                                                     "waitforblockheight",
                                                     "waitfornewblock",
                                                     "syncwithvalidationinterfacequeue"};
    const std::set<std::string> changes_the_node = {"generate",
                                                    "generateblock",
                                                    "generatetoaddress",
                                                    "generatetodescriptor",
                                                    "importmempool",
                                                    "mockscheduler",
                                                    "invalidateblock",
                                                    "loadtxoutset",
                                                    "preciousblock",
                                                    "prioritisetransaction",
                                                    "pruneblockchain",
                                                    "reconsiderblock",
                                                    "savemempool",
                                                    "sendrawtransaction",
                                                    "submitblock",
                                                    "submitheader",
                                                    "submitpackage",
                                                    "testmempoolaccept"};
    std::set<std::string> waiting = needs_coins;
    waiting.insert(needs_tip_or_undo.begin(), needs_tip_or_undo.end());
    waiting.insert(changes_the_node.begin(), changes_the_node.end());

    CallsKit kit;
    size_t early = 0;
    std::set<std::string> found;
    for (const std::string& name : kit.calls.table.Names()) {
        const bool waits = kit.calls.table.Find(name)->since == RpcPhase::kChain;
        if (waits) found.insert(name);
        early += !waits;
    }
    CHECK(found == waiting);
    CHECK(early > 40);
}

TEST_CASE("before the index of transactions is open, it is said to be built")
{
    CallsKit kit;
    const std::string call = "[\"" + std::string(64, '1') + "\"]";
    const std::string end = ". Use gettransaction for wallet transactions.";
    CHECK(kit.Outcome("getrawtransaction", call) ==
          "-5: No such mempool transaction. Use -txindex or provide a block hash to enable "
          "blockchain transaction queries" +
              end);
    kit.calls.chain.wants_tx_index = true;
    CHECK(kit.Outcome("getrawtransaction", call) ==
          "-5: No such mempool transaction. Blockchain transactions are still in the process of "
          "being indexed" +
              end);
}

TEST_CASE("calls that do not wait are answered before there is a tip")
{
    CallsKit kit;
    kit.calls.table.SetWarmup("Building…");
    kit.calls.table.OpenNetworkCalls();
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const test::TempDir dir;
    test::Engine empty(params, dir / "regtest");
    kit.calls.chain.chain = empty.chain;
    for (const std::string& name : kit.calls.table.Names()) {
        const RpcMethod& method = *kit.calls.table.Find(name);
        if (method.since == RpcPhase::kChain || name == "stop") continue;
        INFO(name);
        const std::string said = kit.Outcome(name);
        CHECK_FALSE(said.starts_with("-28"));
    }
    CHECK(kit.Outcome("gettxout", std::string(R"(["00", 0])")).starts_with("-28: Building…"));
}

TEST_CASE("calls that need no coins can hide the tip")
{
    CallsKit kit;
    const auto shown = [&kit] {
        const UniValue info = kit.Call("getblockchaininfo");
        std::vector<std::string> heights{kit.Outcome("getblockcount"), info["blocks"].write(),
                                         kit.Call("getmininginfo")["blocks"].write()};
        const UniValue states = kit.Call("getchainstates")["chainstates"];
        heights.push_back(states[states.size() - 1]["blocks"].write());
        const UniValue tips = kit.Call("getchaintips");
        for (const UniValue& tip : tips.getValues()) {
            if (tip["status"].get_str() == "active") heights.push_back(tip["height"].write());
        }
        return heights;
    };
    const std::string tip = std::to_string(CallsKit::kHeight);
    CHECK(shown() == std::vector<std::string>(5, tip));
    kit.calls.chain.hides_tip = true;
    CHECK(shown() == std::vector<std::string>(5, "0"));
    CHECK(kit.Call("getblockchaininfo")["initialblockdownload"].isTrue());
    kit.calls.chain.hides_tip = false;
    CHECK(shown() == std::vector<std::string>(5, tip));
}
