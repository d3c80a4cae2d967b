// Eleven real blocks with the coins they spend: every input verifies under the flags of its height,
// and no input of a changed copy does.
#include "crypto/lanes.h"
#include "primitives/block.h"
#include "script/coin.h"
#include "script/vector_support.h"
#include "sim/both_ways.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <iostream>
#include <map>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

// The consensus flags for a block of that height: these from genesis on, the others later.
constexpr ScriptFlags kAlways = kVerifyP2sh | kVerifyWitness | kVerifyTaproot;
constexpr ScriptFlags kAll = kAlways | kVerifyDerSig | kVerifyCltv | kVerifyCsv | kVerifyNullDummy;

struct RealBlock {
    const char* name;
    const char* block;
    const char* spent;
    ScriptFlags flags;
};

constexpr RealBlock kBlocks[] = {
    {"mainnet 300025", "bcoin/block300025.raw.xz", "bcoin/block300025-undo.raw.xz", kAlways},
    {"testnet3 1087400", "bcoin/block1087400.raw", "bcoin/block1087400-undo.raw", kAll},
    {"testnet3 928816", "bcoin/block928816.raw.xz", "bcoin/block928816-undo.raw.xz", kAll},
    {"testnet3 928828", "bcoin/block928828.raw.xz", "bcoin/block928828-undo.raw.xz", kAll},
    {"testnet3 928831", "bcoin/block928831.raw.xz", "bcoin/block928831-undo.raw.xz", kAll},
    {"testnet3 928848", "bcoin/block928848.raw.xz", "bcoin/block928848-undo.raw.xz", kAll},
    {"testnet3 928849", "bcoin/block928849.raw.xz", "bcoin/block928849-undo.raw.xz", kAll},
    {"testnet3 928927", "bcoin/block928927.raw.xz", "bcoin/block928927-undo.raw.xz", kAll},
    {"mainnet 367891", "floresta/block_367891/raw.zst", "floresta/block_367891/spent_utxos.zst",
     kAlways | kVerifyDerSig},
    {"mainnet 866342", "floresta/block_866342/raw.zst", "floresta/block_866342/spent_utxos.zst",
     kAll},
};

/** Outputs of all non-coinbase inputs in block order, in either project's form. */
std::vector<MutableOutput> SpentCoins(const std::string& path)
{
    const Bytes raw = ReadTestFile(path);
    std::vector<MutableOutput> out;
    if (raw[0] != '[') {
        Reader reader(raw);
        while (reader.Ok() && reader.Remaining() > 0) {
            const Amount value = reader.I64();
            const ByteSpan script = reader.VarBytes();
            out.push_back({value, Bytes(script.begin(), script.end())});
        }
        REQUIRE(reader.Ok());
        return out;
    }
    UniValue json;
    REQUIRE(json.read(reinterpret_cast<const char*>(raw.data()), raw.size()));
    for (const UniValue& item : json.getValues()) {
        const UniValue& coin = item.exists("txout") ? item["txout"] : item;
        const char* script = coin.exists("script_pubkey") ? "script_pubkey" : "script";
        out.push_back({coin["value"].get_int64(), *FromHex(coin[script].get_str())});
    }
    return out;
}

struct Tally {
    size_t inputs = 0;
    size_t proven = 0;          //!< by a deferred run
    size_t unsigned_inputs = 0; //!< valid whatever the transaction says
};

Bytes ChangedScript(ByteSpan script)
{
    if (script.empty()) return Bytes(1, OP_RETURN);
    Bytes changed(script.begin(), script.end());
    changed[changed.size() / 2] ^= 1;
    return changed;
}

/** The copy has another lock time, to which every hash type commits. */
void CheckTx(const TxView& tx, std::span<const SpentOutput> spent, ScriptFlags flags, Tally& tally)
{
    INFO("transaction " << tx.txid.ToHex());
    MutableTransaction changed = MutableTransaction::FromView(tx);
    changed.lock_time ^= 1;
    const TransactionRef copy = changed.Freeze();
    const TxHashes hashes(tx, spent);
    const TxHashes copy_hashes(copy->View(), spent);
    for (size_t i = 0; i < tx.inputs.size(); ++i, ++tally.inputs) {
        INFO("input " << i);
        const auto ways = sim::VerifyBothWays(tx, i, spent[i], hashes, flags);
        if (ways.plain != ScriptError::kOk) FAIL_CHECK(ScriptErrorName(ways.plain));
        tally.proven += ways.proven ? 1 : 0;
        const auto copied = sim::VerifyBothWays(copy->View(), i, spent[i], copy_hashes, flags);
        if (copied.plain != ScriptError::kOk) continue;
        // No signature: change what the output asks for.
        ++tally.unsigned_inputs;
        const Bytes script = ChangedScript(spent[i].script_pubkey);
        CHECK(VerifyInput(tx, i, {spent[i].value, script}, hashes, flags) != ScriptError::kOk);
    }
}

} // namespace

TEST_CASE("every input of real blocks verifies, none of a changed copy")
{
    Tally all;
    for (const RealBlock& real : kBlocks) {
        const auto block_path = TestData(real.block);
        const auto spent_path = TestData(real.spent);
        if (!block_path || !spent_path) return;
        INFO(real.name);
        const Bytes raw = ReadTestFile(*block_path);
        const std::vector<MutableOutput> coins = SpentCoins(*spent_path);
        BlockView block;
        REQUIRE(block.Parse(raw));
        Tally tally;
        for (const TxView& tx : block.Txs().subspan(1)) {
            std::vector<SpentOutput> spent;
            for (size_t i = 0; i < tx.inputs.size(); ++i) {
                REQUIRE(tally.inputs + i < coins.size());
                const MutableOutput& coin = coins[tally.inputs + i];
                spent.push_back({coin.value, coin.script_pubkey});
            }
            CheckTx(tx, spent, real.flags, tally);
        }
        CHECK(tally.inputs == coins.size());
        std::cerr << real.name << ": " << tally.inputs << " inputs, " << tally.unsigned_inputs
                  << " without a signature\n";
        all.inputs += tally.inputs;
        all.proven += tally.proven;
        all.unsigned_inputs += tally.unsigned_inputs;
    }
    std::cerr << "real blocks: " << all.inputs << " inputs\n";
    CHECK(all.inputs == 80'861);
    // Lanes do not decide r = s = 2 (fe806654...03bf8469e in 866342), as x may be r or r + n.
    CHECK(all.inputs - all.proven == (lanes::BestVerifier() != nullptr ? 1 : 0));
    CHECK(all.unsigned_inputs == 20'004); // 20,000 of them in block 367891, with empty scripts
}

TEST_CASE("every input of a real block verifies with coins in the form of the database")
{
    const auto block_path = TestData("btcd/277647.dat.bz2");
    const auto coins_path = TestData("btcd/277647.utxostore.bz2");
    if (!block_path || !coins_path) return;
    const Bytes framed = ReadTestFile(*block_path), stored = ReadTestFile(*coins_path);
    std::map<OutPoint, Coin> coins;
    Reader reader(stored); // txid, vout, length, coin
    while (reader.Ok() && reader.Remaining() > 0) {
        OutPoint outpoint;
        outpoint.txid = Txid(reader.Hash());
        outpoint.vout = reader.U32();
        const auto coin = DecodeCoin(reader.Span(reader.U32()));
        REQUIRE(coin);
        coins.emplace(outpoint, *coin);
    }
    REQUIRE(reader.Ok());
    BlockView block;
    REQUIRE(block.Parse(ByteSpan(framed).subspan(8))); // after magic and length
    Tally tally;
    for (const TxView& tx : block.Txs().subspan(1)) {
        std::vector<SpentOutput> spent;
        for (const InputView& input : tx.inputs) {
            REQUIRE(coins.contains(input.Prevout()));
            const Coin& coin = coins.at(input.Prevout());
            CHECK(coin.height <= 277'647);
            spent.push_back({coin.value, coin.script});
        }
        CheckTx(tx, spent, kAlways, tally);
    }
    std::cerr << "mainnet 277647: " << tally.inputs << " inputs\n";
    CHECK(tally.inputs == coins.size());
}

TEST_CASE("single real transactions verify with the coins they spend, changed copies do not")
{
    Tally tally;
    for (const int n : {1, 2, 3, 4, 6, 7, 10}) {
        const auto tx_path = TestData(fmt::format("bcoin/tx{}.raw", n));
        const auto spent_path = TestData(fmt::format("bcoin/tx{}-undo.raw", n));
        if (!tx_path || !spent_path) return;
        INFO("bcoin/tx" << n);
        const auto tx = Transaction::Parse(ReadTestFile(*tx_path));
        REQUIRE(tx);
        const std::vector<MutableOutput> coins = SpentCoins(*spent_path);
        std::vector<SpentOutput> spent;
        for (const MutableOutput& coin : coins) spent.push_back({coin.value, coin.script_pubkey});
        REQUIRE(spent.size() == (*tx)->View().inputs.size());
        CheckTx((*tx)->View(), spent, kVerifyP2sh, tally);
    }
    std::cerr << "real transactions: " << tally.inputs << " inputs\n";
    CHECK(tally.inputs > 7);
}

TEST_CASE("real transactions without their coins parse and serialize to the same bytes")
{
    for (const char* name : {"bcoin/tx5.raw", "bcoin/tx8.raw", "bcoin/tx9.raw"}) {
        const auto path = TestData(name);
        if (!path) return;
        INFO(name);
        const Bytes raw = ReadTestFile(*path);
        const auto tx = Transaction::Parse(raw);
        REQUIRE(tx);
        CHECK(MutableTransaction::FromView((*tx)->View()).Serialize() == raw);
    }
    const auto path = TestData("btcd/many_inputs_tx.hex");
    if (!path) return;
    const Bytes text = ReadTestFile(*path);
    // The transactions whose coins it spends follow it.
    const auto tx =
        Transaction::Parse(*FromHex(std::string(text.begin(), text.begin() + 2 * 3682)));
    REQUIRE(tx);
    CHECK((*tx)->View().inputs.size() == 89);
    CHECK((*tx)->Id().ToHex().starts_with("7fee1735"));
}
