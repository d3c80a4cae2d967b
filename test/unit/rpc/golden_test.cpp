// The answers of Core for the real chain 0..14131, field by field and in order, from the data
// directory that Core wrote.
#include "mempool/tx_pool.h"
#include "rpc/blockchain.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"
#include "util/hex.h"
#include "validation/chain_stack.h"
#include "validation/script_threads.h"

#include "support/catch.h"

using namespace ibd;
using ibd::test::Must;
using ibd::test::TempDir;

namespace {

/** A data directory behind a table of calls: empty, or unpacked from an archive. */
class TestNode {
public:
    explicit TestNode(Network network, const std::string& archive = "")
        : m_params(MakeChainParams(network))
    {
        REQUIRE(m_env->CreateDirectories(m_dir / "blocks").Ok());
        const std::string command =
            "tar -xJf '" + archive + "' -C '" + m_dir.Get().string() + "' blocks chainstate";
        if (!archive.empty()) REQUIRE(std::system(command.c_str()) == 0);
        m_data = Must(DataDir::Open(*m_env, {m_dir.Get(), {}, ""}));
        ChainStackOptions options;
        options.checker = &m_scripts;
        m_stack = Must(OpenChain(*m_env, *m_log, m_params, *m_data, options, m_interrupt));
        Must(m_stack->Chain().ActivateBestChain());
        m_context.chain = &m_stack->Chain();
        m_context.net_dir = m_dir.Get();
        AddChainInfoMethods(m_table, m_context);
        AddBlockMethods(m_table, m_context);
        AddCoinsMethods(m_table, m_context, m_pool);
        AddTransactionMethods(m_table, m_context, m_pool);
        AddChainControlMethods(m_table, m_context);
        m_table.EndWarmup();
    }

    /** `params`: a JSON array. */
    UniValue Call(const std::string& method, const std::string& params = "[]")
    {
        UniValue array;
        REQUIRE(array.read(params));
        return m_table.Execute(method, array);
    }
    RpcError Refusal(const std::string& method, const std::string& params)
    {
        try {
            Call(method, params);
        } catch (const RpcError& error) {
            return error;
        }
        FAIL("the call succeeded");
        return {RpcCode::kMisc, ""};
    }
    Env& TheEnv() { return *m_env; }
    const TempDir& Dir() const { return m_dir; }

private:
    TempDir m_dir;
    std::unique_ptr<Env> m_env = MakePosixEnv();
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    const ChainParams m_params;
    const std::atomic<bool> m_interrupt{false};
    std::unique_ptr<DataDir> m_data;
    ScriptThreads m_scripts{0};
    TipWaiters m_waiters;
    NodeWarnings m_warnings;
    std::unique_ptr<ChainStack> m_stack;
    TxPool m_pool{PoolLimits()};
    ChainContext m_context{*m_env, *m_log, m_waiters, m_warnings, m_interrupt};
    RpcTable m_table{*m_env};
};

/** The first difference of two answers; empty if they are equal. Numbers are compared by value. */
std::string Difference(const UniValue& got, const UniValue& want, const std::string& path)
{
    if (got.type() != want.type()) return path + ": type";
    if (want.isNum()) return got.get_real() == want.get_real() ? "" : path + ": " + got.getValStr();
    if (!want.isObject() && !want.isArray()) {
        return got.getValStr() == want.getValStr() ? "" : path + ": " + got.getValStr();
    }
    if (got.size() != want.size()) return path + ": size";
    for (size_t i = 0; i < want.size(); ++i) {
        std::string name = std::to_string(i);
        if (want.isObject()) {
            name = want.getKeys()[i];
            if (got.getKeys()[i] != name) return path + ": " + got.getKeys()[i] + " for " + name;
        }
        const std::string inner =
            Difference(got.getValues()[i], want.getValues()[i], path + "." + name);
        if (!inner.empty()) return inner;
    }
    return "";
}

std::string Quoted(const UniValue& text, const std::string& rest = "")
{
    return "[\"" + text.get_str() + "\"" + rest + "]";
}

/** The golden chain in a node, and Core's answers about it. */
struct GoldenChain {
    GoldenChain()
    {
        const auto archive = test::TestData("golden_mainnet14131/core_datadir_mainnet14131.tar.xz");
        if (!archive) return;
        golden = test::ReadTestJson(*test::TestData("golden_mainnet14131/golden.json"));
        node = std::make_unique<TestNode>(Network::kMain, *archive);
    }
    static void Same(const UniValue& got, const UniValue& want, const std::string& what)
    {
        CHECK(Difference(got, want, what) == "");
    }

    UniValue golden;
    std::unique_ptr<TestNode> node; //!< null without test data
};

} // namespace

TEST_CASE_METHOD(GoldenChain, "Core's answers about the golden chain: blocks and headers")
{
    if (!node) return;
    const UniValue& block_170 = golden["heights"]["170"]["hash"];
    for (int verbosity = 0; verbosity <= 3; ++verbosity) {
        const std::string v = std::to_string(verbosity);
        Same(node->Call("getblock", Quoted(block_170, "," + v)),
             golden["getblock_170_verbosity_" + v], "getblock " + v);
    }
    Same(node->Call("getblock", Quoted(block_170, ",false")), golden["getblock_170_verbosity_0"],
         "false");
    Same(node->Call("getblock", Quoted(block_170)), golden["getblock_170_verbosity_1"], "none");
    Same(node->Call("getblockheader", Quoted(golden["heights"]["14131"]["hash"])),
         golden["getblockheader_14131_verbose"], "header");
    for (const std::string& height : golden["heights"].getKeys()) {
        const UniValue& want = golden["heights"][height];
        Same(node->Call("getblockhash", "[" + height + "]"), want["hash"], height);
        Same(node->Call("getblockheader", Quoted(want["hash"], ",false")), want["header_hex"],
             height);
        if (!want.exists("getblockstats")) continue;
        Same(node->Call("getblockstats", "[" + height + "]"), want["getblockstats"], height);
    }
}

TEST_CASE_METHOD(GoldenChain, "Core's answers about the golden chain: the chain")
{
    if (!node) return;
    const UniValue got = node->Call("getblockchaininfo");
    const UniValue& want = golden["getblockchaininfo"];
    CHECK(got.getKeys() == want.getKeys());
    for (const std::string& key : want.getKeys()) {
        // The estimate depends on the clock; the warning is of Core's test build.
        if (key == "verificationprogress" || key == "warnings") continue;
        Same(got[key], want[key], key);
    }
}

TEST_CASE_METHOD(GoldenChain,
                 "Core's answers about the golden chain: the coins, now and at older blocks")
{
    if (!node) return;
    Same(node->Call("gettxoutsetinfo"), golden["gettxoutsetinfo_hash_serialized_3"], "now");
    int checked = 0;
    for (const std::string& height : golden["heights"].getKeys()) {
        const UniValue& want = golden["heights"][height];
        if (!want.exists("gettxoutsetinfo_muhash_at_height")) continue;
        Same(node->Call("gettxoutsetinfo", "[\"muhash\"," + height + "]"),
             want["gettxoutsetinfo_muhash_at_height"], height);
        ++checked;
    }
    CHECK(checked == 16);
    CHECK(node->Refusal("gettxoutsetinfo", "[\"hash_serialized_3\",5]").code ==
          RpcCode::kInvalidParameter);
    CHECK(node->Refusal("gettxoutsetinfo", "[\"sha1\"]").message ==
          "'sha1' is not a valid hash_type");
}

TEST_CASE_METHOD(GoldenChain, "Core's answers about the golden chain: the snapshot")
{
    if (!node) return;
    const UniValue out = node->Call("dumptxoutset", "[\"utxo.dat\",\"latest\"]");
    CHECK(out["coins_written"].get_int() == 13416);
    CHECK(out["txoutset_hash"].get_str() ==
          golden["gettxoutsetinfo_hash_serialized_3"]["hash_serialized_3"].get_str());
    CHECK(out["nchaintx"].get_int() == 14247);
    const auto written = ReadWholeFile(node->TheEnv(), node->Dir() / "utxo.dat");
    REQUIRE(written.Ok());
    CHECK(*written == test::ReadTestFile(*test::TestData("golden_mainnet14131/utxo_14131.dat.xz")));
    CHECK(node->Refusal("dumptxoutset", "[\"utxo.dat\",\"latest\"]").code ==
          RpcCode::kInvalidParameter);
    const UniValue older = node->Call("dumptxoutset", "[\"older\",\"\",{\"rollback\":170}]");
    CHECK(older["coins_written"].get_int() == 171);
    CHECK(older["base_height"].get_int() == 170);
    CHECK(node->Refusal("dumptxoutset", "[\"x\",\"latest\",{\"rollback\":1}]").code ==
          RpcCode::kInvalidParameter);
    CHECK_FALSE(node->TheEnv().Exists(node->Dir() / "x"));
}

TEST_CASE_METHOD(GoldenChain, "Core's answers about the golden chain: transactions and coins")
{
    if (!node) return;
    const UniValue& block = golden["getblock_170_verbosity_3"];
    const UniValue& tx = block["tx"][1];
    const std::string params =
        "[\"" + tx["txid"].get_str() + "\",2,\"" + block["hash"].get_str() + "\"]";
    const UniValue got = node->Call("getrawtransaction", params);
    CHECK(got.getKeys().front() == "in_active_chain");
    for (const std::string& key : tx.getKeys()) Same(got[key], tx[key], key);
    CHECK(got["confirmations"].get_int() == 13962);
    const UniValue decoded = node->Call("decoderawtransaction", Quoted(tx["hex"]));
    CHECK_FALSE(decoded.exists("hex"));
    Same(decoded["vout"], tx["vout"], "vout");
    CHECK(node->Refusal("decoderawtransaction", "[\"00\"]").code == RpcCode::kDeserialization);
    CHECK(node->Refusal("getrawtransaction", Quoted(tx["txid"])).code ==
          RpcCode::kInvalidAddressOrKey);

    // The first output of block 170's second transaction is spent, block 14131's coinbase not.
    CHECK(node->Call("gettxout", Quoted(tx["txid"], ",1")).isNull());
    const UniValue tip = node->Call("getblock", Quoted(golden["heights"]["14131"]["hash"], ",2"));
    const UniValue coin = node->Call("gettxout", Quoted(tip["tx"][0]["txid"], ",0"));
    CHECK(coin["confirmations"].get_int() == 1);
    CHECK(coin["coinbase"].get_bool());
    CHECK(coin["value"].getValStr() == "50.00000000");
    Same(coin["scriptPubKey"], tip["tx"][0]["vout"][0]["scriptPubKey"], "scriptPubKey");
}

TEST_CASE("Core's regtest chain with fees: statistics, submission, waiting, invalidation")
{
    const auto path = test::TestData("core/rpc_getblockstats.json");
    if (!path) return;
    const UniValue data = test::ReadTestJson(*path);
    TestNode node(Network::kRegtest);
    const UniValue& blocks = data["blocks"];
    // The file's first block is genesis, which exists already.
    CHECK(node.Call("submitblock", Quoted(blocks[0])).get_str() == "duplicate");
    CHECK(node.Call("submitblock", Quoted(blocks[2])).get_str() == "prev-blk-not-found");
    for (size_t i = 1; i < blocks.size(); ++i) {
        INFO(i);
        CHECK(node.Call("submitblock", Quoted(blocks[i])).isNull());
    }
    CHECK(node.Call("submitblock", Quoted(blocks[5])).get_str() == "duplicate");
    CHECK(node.Call("getblockcount").get_int() == static_cast<int>(blocks.size()) - 1);
    CHECK(node.Call("waitforblockheight", "[50,1000]")["height"].get_int() == 103);

    REQUIRE(data["stats"].size() == 3);
    for (size_t i = 0; i < data["stats"].size(); ++i) {
        const UniValue& want = data["stats"][i];
        const UniValue got = node.Call("getblockstats", "[" + want["height"].getValStr() + "]");
        CHECK(got.size() == want.size());
        for (const std::string& key : want.getKeys()) {
            CHECK(Difference(got[key], want[key], key) == "");
        }
        const UniValue some =
            node.Call("getblockstats", Quoted(want["blockhash"], ",[\"txs\",\"avgfee\"]"));
        CHECK(some.getKeys() == std::vector<std::string>{"avgfee", "txs"});
    }
    CHECK(node.Refusal("getblockstats", "[-1]").message == "Target block height -1 is negative");
    CHECK(node.Refusal("getblockstats", "[104]").message ==
          "Target block height 104 after current tip 103");
    CHECK(node.Refusal("getblockstats", "[1,[\"no\"]]").message ==
          "Invalid selected statistic 'no'");

    CHECK(node.Call("verifychain", "[4,0]").get_bool());
    const UniValue fork = node.Call("getblockhash", "[100]");
    node.Call("invalidateblock", Quoted(fork));
    CHECK(node.Call("getblockcount").get_int() == 99);
    const UniValue tips = node.Call("getchaintips");
    REQUIRE(tips.size() == 2);
    CHECK(tips[0]["status"].get_str() == "invalid");
    CHECK(tips[0]["branchlen"].get_int() == 4);
    CHECK(tips[1]["status"].get_str() == "active");
    CHECK(node.Call("getblockheader", Quoted(fork))["confirmations"].get_int() == -1);
    CHECK(node.Call("submitblock", Quoted(blocks[100])).get_str() == "duplicate-invalid");
    node.Call("reconsiderblock", Quoted(fork));
    CHECK(node.Call("getblockcount").get_int() == 103);
    CHECK(node.Refusal("invalidateblock", Quoted(UniValue(std::string(64, '0')))).message ==
          "Block not found");
    CHECK(node.Refusal("submitheader", Quoted(UniValue(std::string(160, '0')))).message ==
          "Must submit previous header (" + std::string(64, '0') + ") first");
}
