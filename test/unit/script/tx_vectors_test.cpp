// Core's tx_valid.json and tx_invalid.json: verdicts under the flags that each row names, under
// all further ones, and that no flag named there could be left out.
#include "script/script.h"
#include "sim/both_ways.h"
#include "script/vector_support.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <iostream>
#include <map>
#include <set>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

struct TxCase {
    TransactionRef tx;
    std::map<OutPoint, MutableOutput> coins;
    std::string flags;
};

/** Nothing for a comment. */
std::optional<TxCase> ReadCase(const UniValue& row)
{
    if (!row[0].isArray()) return std::nullopt;
    TxCase out;
    for (size_t i = 0; i < row[0].size(); ++i) {
        const UniValue& coin = row[0][i];
        const auto txid = Uint256::FromHex(coin[0].get_str());
        REQUIRE(txid);
        const OutPoint outpoint{Txid(*txid), static_cast<uint32_t>(coin[1].get_int64())};
        const Amount value = coin.size() >= 4 ? coin[3].get_int64() : 0;
        out.coins[outpoint] = {value, ParseScriptWords(coin[2].get_str())};
    }
    out.flags = row[2].get_str();
    if (out.flags == "BADTX") return out;
    auto tx = Transaction::Parse(*FromHex(row[1].get_str()));
    REQUIRE(tx);
    out.tx = *tx;
    return out;
}

bool Valid(const TxCase& c, ScriptFlags flags)
{
    const TxView& tx = c.tx->View();
    std::vector<SpentOutput> spent;
    for (const InputView& input : tx.inputs) {
        const auto coin = c.coins.find(input.Prevout());
        REQUIRE(coin != c.coins.end());
        spent.push_back({coin->second.value, coin->second.script_pubkey});
    }
    const TxHashes hashes(tx, spent);
    for (size_t i = 0; i < tx.inputs.size(); ++i) {
        const auto ways = sim::VerifyBothWays(tx, i, spent[i], hashes, flags);
        if (ways.plain != ScriptError::kOk) return false;
    }
    return true;
}

/** The combinations that leave out one of the flags (and what needs it). */
std::set<ScriptFlags> WithoutOne(ScriptFlags flags)
{
    std::set<ScriptFlags> out;
    for (int i = 0; i < kFlagCount; ++i) {
        const ScriptFlags fewer = TrimFlags(flags & ~(1U << i));
        if (fewer != flags) out.insert(fewer);
    }
    return out;
}

} // namespace

TEST_CASE("tx_valid.json: valid under every flag that is not excluded")
{
    const auto path = TestData("core/tx_valid.json");
    if (!path) return;
    const UniValue rows = ReadTestJson(*path);
    size_t cases = 0, runs = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
        const auto c = ReadCase(rows[row]);
        if (!c) continue;
        INFO("row " << row << ": " << rows[row].write());
        const ScriptFlags excluded = *ParseFlags(c->flags);
        CHECK(Valid(*c, kAllFlags & ~excluded));
        for (int i = 0; i < kFlagCount; ++i) {
            INFO("without " << FlagNames()[size_t(i)].name);
            CHECK(Valid(*c, TrimFlags(~(excluded | 1U << i))));
            CHECK(Valid(*c, TrimFlags(~(excluded | static_cast<ScriptFlags>(TestRng()())))));
            runs += 2;
        }
        for (const ScriptFlags fewer : WithoutOne(excluded)) {
            INFO("excluded flags " << fewer);
            CHECK_FALSE(Valid(*c, kAllFlags & ~fewer));
            ++runs;
        }
        ++cases;
    }
    std::cerr << "tx_valid.json: " << cases << " transactions, " << runs
              << " more flag combinations"
              << "\n";
    CHECK(cases == 121);
}

TEST_CASE("tx_invalid.json: invalid under the flags, each of them needed")
{
    const auto path = TestData("core/tx_invalid.json");
    if (!path) return;
    const UniValue rows = ReadTestJson(*path);
    size_t cases = 0, runs = 0, no_script = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
        const auto c = ReadCase(rows[row]);
        if (!c) continue;
        if (!c->tx) { // fails the rules without context: unit_consensus
            ++no_script;
            continue;
        }
        INFO("row " << row << ": " << rows[row].write());
        const ScriptFlags flags = *ParseFlags(c->flags);
        CHECK_FALSE(Valid(*c, flags));
        for (int i = 0; i < kFlagCount; ++i) {
            CHECK_FALSE(Valid(*c, FillFlags(flags | 1U << i)));
            const auto random = static_cast<ScriptFlags>(TestRng()()) & kAllFlags;
            CHECK_FALSE(Valid(*c, FillFlags(flags | random)));
            runs += 2;
        }
        for (const ScriptFlags fewer : WithoutOne(flags)) {
            INFO("flags " << fewer);
            CHECK(Valid(*c, fewer));
            ++runs;
        }
        ++cases;
    }
    std::cerr << "tx_invalid.json: " << cases << " transactions, " << runs
              << " more flag combinations, " << no_script << " bad without scripts"
              << "\n";
    CHECK(cases == 84);
}
