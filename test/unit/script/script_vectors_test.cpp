// Core's script_tests.json: every case with its exact error, and the promise that flags only ever
// take validity away.
#include "crypto/secp256k1.h"
#include "script/script.h"
#include "script/vector_support.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <cmath>
#include <iostream>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** A point with unknown discrete logarithm (BIP341). */
constexpr const char* kNums = "50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0";

struct Case {
    std::vector<Bytes> witness;
    Amount value = 0;
    Bytes script_sig;
    Bytes script_pubkey;
    ScriptFlags flags = 0;
    std::string expected;
};

struct OneLeafTree {
    Bytes control;
    XOnlyKey output{};
};

OneLeafTree MakeTree(ByteSpan script)
{
    XOnlyKey internal;
    const Bytes nums = *FromHex(kNums);
    std::copy(nums.begin(), nums.end(), internal.begin());
    Sha256 hasher = TaggedHash("TapTweak");
    const Hash32 leaf = TapLeafHash(0xc0, script);
    const auto tweaked = TweakXOnlyKey(internal, hasher.Write(internal).Write(leaf).Finalize());
    REQUIRE(tweaked);
    OneLeafTree tree;
    tree.output = tweaked->first;
    tree.control.push_back(static_cast<uint8_t>(0xc0 | (tweaked->second ? 1 : 0)));
    Append(tree.control, internal);
    return tree;
}

Case ReadCase(const UniValue& row)
{
    Case out;
    size_t at = 0;
    OneLeafTree tree;
    if (row[0].isArray()) {
        const UniValue& items = row[at++];
        for (size_t i = 0; i + 1 < items.size(); ++i) {
            const std::string text = items[i].get_str();
            static const std::string kScript = "#SCRIPT#";
            if (text.starts_with(kScript)) {
                out.witness.push_back(ParseScriptWords(text.substr(kScript.size())));
                tree = MakeTree(out.witness.back());
            } else if (text == "#CONTROLBLOCK#") {
                out.witness.push_back(tree.control);
            } else {
                out.witness.push_back(*FromHex(text));
            }
        }
        out.value = std::llround(items[items.size() - 1].get_real() * double(kCoin));
    }
    out.script_sig = ParseScriptWords(row[at++].get_str());
    const std::string script = row[at++].get_str();
    if (script == "0x51 0x20 #TAPROOTOUTPUT#") {
        out.script_pubkey = {OP_1};
        AppendPush(out.script_pubkey, tree.output);
    } else {
        out.script_pubkey = ParseScriptWords(script);
    }
    out.flags = FillFlags(*ParseFlags(row[at++].get_str()));
    out.expected = row[at].get_str();
    return out;
}

ScriptError Run(const Case& c, const TransactionRef& tx, ScriptFlags flags)
{
    const SpentOutput spent{c.value, c.script_pubkey};
    return VerifyAt(tx->View(), 0, spent, {&spent, 1}, flags);
}

} // namespace

TEST_CASE("script_tests.json: every verdict and error")
{
    const auto path = TestData("core/script_tests.json");
    if (!path) return;
    const UniValue rows = ReadTestJson(*path);
    size_t cases = 0, valid = 0, combinations = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].size() < 4) continue; // a comment
        INFO("row " << i << ": " << rows[i].write());
        const Case c = ReadCase(rows[i]);
        const TransactionRef tx = SpendOf(c.script_pubkey, c.value, c.script_sig, c.witness);
        CHECK(ScriptErrorName(Run(c, tx, c.flags)) == c.expected);
        ++cases;
        const bool ok = c.expected == "OK";
        valid += ok ? 1 : 0;
        for (int round = 0; round < 16; ++round) {
            const auto random = static_cast<ScriptFlags>(TestRng()()) & kAllFlags;
            const ScriptFlags flags =
                ok ? TrimFlags(c.flags & ~random) : FillFlags(c.flags | random);
            INFO("flags " << flags);
            CHECK((Run(c, tx, flags) == ScriptError::kOk) == ok);
            ++combinations;
        }
    }
    std::cerr << "script_tests.json: " << cases << " cases, " << valid << " of them valid, "
              << combinations << " more flag combinations"
              << "\n";
    CHECK(cases == 1222);
}
