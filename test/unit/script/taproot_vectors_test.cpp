// script_assets_test.json: 2,760 spends around taproot, each with a valid and mostly an invalid
// input script and witness, under all combinations of the consensus flags.
#include "script/vector_support.h"
#include "sim/both_ways.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <iostream>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr ScriptFlags kConsensusFlags = kVerifyP2sh | kVerifyDerSig | kVerifyCltv | kVerifyCsv |
                                        kVerifyWitness | kVerifyNullDummy | kVerifyTaproot;

std::vector<ScriptFlags> ConsensusCombinations()
{
    std::vector<ScriptFlags> out;
    for (ScriptFlags flags = 0; flags <= kConsensusFlags; ++flags) {
        if ((flags & ~kConsensusFlags) == 0 && TrimFlags(flags) == flags) out.push_back(flags);
    }
    return out;
}

struct Asset {
    MutableTransaction tx;
    std::vector<Bytes> raw_prevouts;
    std::vector<SpentOutput> prevouts;
    size_t index = 0;
    ScriptFlags flags = 0;
    bool final = false; //!< stays valid under flags of later soft forks
};

Asset ReadAsset(const UniValue& json)
{
    Asset out;
    const auto tx = Transaction::Parse(*FromHex(json["tx"].get_str()));
    REQUIRE(tx);
    out.tx = MutableTransaction::FromView((*tx)->View());
    for (size_t i = 0; i < json["prevouts"].size(); ++i) {
        out.raw_prevouts.push_back(*FromHex(json["prevouts"][i].get_str()));
    }
    for (const Bytes& raw : out.raw_prevouts) {
        Reader reader(raw);
        const Amount value = reader.I64();
        out.prevouts.push_back({value, reader.VarBytes()});
        REQUIRE(reader.AtEnd());
    }
    REQUIRE(out.prevouts.size() == out.tx.inputs.size());
    out.index = static_cast<size_t>(json["index"].get_int64());
    out.flags = *ParseFlags(json["flags"].get_str());
    out.final = json.exists("final") && json["final"].get_bool();
    return out;
}

TransactionRef WithInput(const Asset& asset, const UniValue& json)
{
    MutableTransaction tx = asset.tx;
    MutableInput& input = tx.inputs[asset.index];
    input.script_sig = *FromHex(json["scriptSig"].get_str());
    for (size_t i = 0; i < json["witness"].size(); ++i) {
        input.witness.push_back(*FromHex(json["witness"][i].get_str()));
    }
    return tx.Freeze();
}

} // namespace

TEST_CASE("script_assets_test.json under all consensus flag combinations")
{
    const auto path = TestData("taproot/script_assets_test.json.xz");
    if (!path) return;
    const UniValue rows = ReadTestJson(*path);
    const auto combinations = ConsensusCombinations();
    size_t good = 0, bad = 0, runs = 0, proven = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
        const Asset asset = ReadAsset(rows[row]);
        const SpentOutput& spent = asset.prevouts[asset.index];
        INFO("row " << row << ": " << rows[row]["comment"].getValStr());
        if (rows[row].exists("success")) {
            const TransactionRef tx = WithInput(asset, rows[row]["success"]);
            const TxHashes hashes(tx->View(), asset.prevouts);
            for (const ScriptFlags flags : combinations) {
                // A final spend is valid under every flag, others under those of the row at most.
                if (!asset.final && (flags & asset.flags) != flags) continue;
                const auto ways =
                    sim::VerifyBothWays(tx->View(), asset.index, spent, hashes, flags);
                CHECK(ways.plain == ScriptError::kOk);
                proven += ways.proven ? 1 : 0;
                ++runs;
            }
            ++good;
        }
        if (rows[row].exists("failure")) {
            const TransactionRef tx = WithInput(asset, rows[row]["failure"]);
            const TxHashes hashes(tx->View(), asset.prevouts);
            for (const ScriptFlags flags : combinations) {
                if ((flags & asset.flags) != asset.flags) continue;
                CHECK(sim::VerifyBothWays(tx->View(), asset.index, spent, hashes, flags).plain !=
                      ScriptError::kOk);
                ++runs;
            }
            ++bad;
        }
    }
    std::cerr << "script_assets_test.json: " << rows.size() << " cases, " << good
              << " valid spends, " << bad << " invalid ones, " << runs << " runs"
              << "\n";
    CHECK(rows.size() == 2760);
    CHECK(proven > runs / 4);
    CHECK(good == 2760);
    CHECK(bad == 2483);
}
