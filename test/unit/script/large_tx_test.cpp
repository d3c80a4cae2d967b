// The largest real transactions: thousands of signatures over hundreds of kilobytes, and a witness
// of half a million items. The spent outputs are not in the test data but are derived from the
// inputs.
#include "crypto/ripemd160.h"
#include "crypto/secp256k1.h"
#include "script/standard.h"
#include "script/vector_support.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <iostream>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** The P2PKH output that an input with signature and key spends. */
Bytes P2pkhOf(const InputView& input)
{
    ByteSpan key;
    for (ScriptIterator it(input.script_sig); it.Next();) key = it.Data();
    return PubkeyHashScript(Hash160(key));
}

} // namespace

TEST_CASE("the 999,657 byte transaction with 5,569 inputs verifies; changed inputs do not")
{
    const auto path = TestData("btcd/megatx.bin.bz2");
    if (!path) return;
    const auto tx = Transaction::Parse(ReadTestFile(*path));
    REQUIRE(tx);
    const TxView& view = (*tx)->View();
    REQUIRE(view.inputs.size() == 5569);
    const TxHashes hashes(view, {});
    size_t good = 0, bad = 0;
    for (size_t i = 0; i < view.inputs.size(); ++i) {
        const Bytes script = P2pkhOf(view.inputs[i]);
        const SpentOutput spent{0, script};
        good += VerifyInput(view, i, spent, hashes, kVerifyP2sh) == ScriptError::kOk ? 1 : 0;
        if (i % 500 != 0) continue;
        Bytes other = script;
        other[3] ^= 1;
        bad += VerifyInput(view, i, {0, other}, hashes, kVerifyP2sh) == ScriptError::kEqualVerify
                   ? 1
                   : 0;
    }
    std::cerr << "megatx: " << good << " inputs verify\n";
    CHECK(good == 5569);
    CHECK(bad == 12);
}

TEST_CASE("half a million witness items below an operation that always succeeds")
{
    const auto path = TestData("rust-bitcoin/huge_witness.hex.xz");
    if (!path) return;
    const Bytes text = ReadTestFile(*path);
    std::string hex(text.begin(), text.end());
    hex.erase(hex.find_last_not_of(" \n\r") + 1);
    const auto tx = Transaction::Parse(*FromHex(hex));
    REQUIRE(tx);
    const TxView& view = (*tx)->View();
    std::vector<Bytes> items;
    ForEachWitnessItem(view.inputs[0],
                       [&](ByteSpan item) { items.emplace_back(item.begin(), item.end()); });
    REQUIRE(items.size() == 500'003); // far more than a stack may hold
    const Bytes& control = items.back();
    const Bytes& leaf_script = items[items.size() - 2];
    REQUIRE(control.size() == 33);
    CHECK(leaf_script == Bytes{OP_RESERVED});
    XOnlyKey internal;
    std::copy(control.begin() + 1, control.end(), internal.begin());
    const Hash32 leaf = TapLeafHash(0xc0, leaf_script);
    Sha256 hasher = TaggedHash("TapTweak");
    const auto output = TweakXOnlyKey(internal, hasher.Write(internal).Write(leaf).Finalize());
    REQUIRE(output);
    Bytes script{OP_1};
    AppendPush(script, output->first);
    const SpentOutput spent{1000, script};
    const ScriptFlags consensus = kVerifyP2sh | kVerifyWitness | kVerifyTaproot;
    CHECK(VerifyAt(view, 0, spent, {&spent, 1}, consensus) == ScriptError::kOk);
    CHECK(VerifyAt(view, 0, spent, {&spent, 1}, consensus | kVerifyDiscourageOpSuccess) ==
          ScriptError::kDiscourageOpSuccess);
    script[5] ^= 1;
    const SpentOutput other{1000, script};
    CHECK(VerifyAt(view, 0, other, {&other, 1}, consensus) == ScriptError::kWitnessProgramMismatch);
}
