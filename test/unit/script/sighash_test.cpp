// Signature hashes: Core's vectors, the worked examples of BIP143, the wallet vectors of BIP341,
// and the original algorithm against a slow reference that rebuilds the transaction field by field.
#include "crypto/secp256k1.h"
#include "script/script.h"
#include "script/vector_support.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <iostream>
#include <regex>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** The message of the original algorithm, made by changing a copy of the transaction. */
Hash32 SlowLegacySigHash(const TxView& view, size_t index, ByteSpan script, uint32_t hash_type)
{
    MutableTransaction tx = MutableTransaction::FromView(view);
    const uint32_t kind = hash_type & 0x1f;
    if (kind == 3 && index >= tx.outputs.size()) return Hash32{1};
    for (size_t i = 0; i < tx.inputs.size(); ++i) {
        tx.inputs[i].script_sig.clear();
        tx.inputs[i].witness.clear();
        if ((kind == 2 || kind == 3) && i != index) tx.inputs[i].sequence = 0;
    }
    for (ScriptIterator it(script); it.Next();) {
        if (it.Op() == OP_CODESEPARATOR) continue;
        Append(tx.inputs[index].script_sig, script.subspan(it.Start(), it.End() - it.Start()));
    }
    if (kind == 2) tx.outputs.clear();
    if (kind == 3) {
        tx.outputs.resize(index + 1);
        for (size_t i = 0; i < index; ++i) tx.outputs[i] = {-1, {}};
    }
    if (hash_type & 0x80) tx.inputs = {MutableInput(tx.inputs[index])};
    Bytes preimage = tx.Serialize(false);
    Writer(preimage).U32(hash_type);
    return Sha256d(preimage);
}

Hash32 ToHash(const std::string& hex)
{
    const Bytes bytes = *FromHex(hex);
    Hash32 out;
    REQUIRE(bytes.size() == out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
}

XOnlyKey ToKey(const UniValue& hex) { return ToHash(hex.get_str()); }

Hash32 Hashed(const char* tag, ByteSpan a, ByteSpan b)
{
    return TaggedHash(tag).Write(a).Write(b).Finalize();
}

/** Merkle root of BIP341's notation: a leaf object, or a pair of trees. */
Hash32 TreeRoot(const UniValue& tree)
{
    if (tree.isObject()) {
        return TapLeafHash(static_cast<uint8_t>(tree["leafVersion"].get_int()),
                           *FromHex(tree["script"].get_str()));
    }
    Hash32 left = TreeRoot(tree[0]), right = TreeRoot(tree[1]);
    if (right < left) std::swap(left, right);
    return Hashed("TapBranch", left, right);
}

} // namespace

TEST_CASE("sighash.json: the original algorithm")
{
    const auto path = TestData("core/sighash.json");
    if (!path) return;
    const UniValue rows = ReadTestJson(*path);
    size_t cases = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
        if (rows[row].size() < 5) continue;
        INFO("row " << row);
        const auto tx = Transaction::Parse(*FromHex(rows[row][0].get_str()));
        REQUIRE(tx);
        const Bytes script = *FromHex(rows[row][1].get_str());
        const auto index = static_cast<size_t>(rows[row][2].get_int());
        const auto type = static_cast<uint32_t>(rows[row][3].get_int());
        const Hash32 hash = LegacySigHash((*tx)->View(), index, script, type);
        CHECK(Uint256(hash).ToHex() == rows[row][4].get_str());
        CHECK(hash == SlowLegacySigHash((*tx)->View(), index, script, type));
        ++cases;
    }
    std::cerr << "sighash.json: " << cases << " cases\n";
    CHECK(cases == 500);
}

TEST_CASE("BIP143: every preimage, hash and signature of the worked examples")
{
    const auto path = TestData("bips/bip-0143.mediawiki");
    if (!path) return;
    const Bytes text = ReadTestFile(*path);
    const std::string page(text.begin(), text.end());
    const std::regex field("(unsigned transaction|preimage[^:]*|sigHash|public key *|signature):"
                           "\\s+([0-9a-f]{20,})");
    std::vector<TransactionRef> txs;
    Bytes preimage, key;
    Hash32 hash{};
    size_t hashes = 0, signatures = 0;
    for (std::sregex_iterator it(page.begin(), page.end(), field), end; it != end; ++it) {
        const std::string name = (*it)[1];
        const Bytes value = *FromHex((*it)[2].str());
        if (name.starts_with("unsigned")) {
            txs.push_back(*Transaction::Parse(value, /*allow_witness=*/false));
        } else if (name.starts_with("preimage")) {
            preimage = value;
        } else if (name == "sigHash") {
            hash = ToHash((*it)[2]);
            REQUIRE(Sha256d(preimage) == hash);
            Reader reader(preimage);
            reader.Span(4 + 32 + 32);
            const ByteSpan outpoint = reader.Span(36);
            const ByteSpan code = reader.VarBytes();
            const Amount value_spent = reader.I64();
            reader.Span(4 + 32 + 4);
            const uint32_t type = reader.U32();
            REQUIRE(reader.AtEnd());
            const TxView& tx = txs.back()->View();
            const TxHashes shared(tx, {});
            for (size_t i = 0; i < tx.inputs.size(); ++i) {
                if (!std::equal(outpoint.begin(), outpoint.end(), tx.inputs[i].prevout_bytes)) {
                    continue;
                }
                CHECK(WitnessV0SigHash(tx, i, code, value_spent, type, shared) == hash);
                ++hashes;
            }
        } else if (name.starts_with("public key")) {
            key = value;
        } else if (!key.empty() && !preimage.empty()) {
            const ByteSpan der = ByteSpan(value).first(value.size() - 1);
            signatures += VerifyEcdsa(key, der, hash) ? 1 : 0;
        }
    }
    std::cerr << "BIP143: " << txs.size() << " transactions, " << hashes << " hashes, "
              << signatures << " signatures\n";
    CHECK(hashes >= 12);
    CHECK(signatures >= 12);
}

TEST_CASE("BIP341 wallet vectors: trees, keys, control blocks")
{
    const auto path = TestData("core/bip341_wallet_vectors.json");
    if (!path) return;
    const UniValue json = ReadTestJson(*path);
    const UniValue& cases = json["scriptPubKey"];
    size_t blocks = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
        INFO("case " << i);
        const UniValue& given = cases[i]["given"];
        const UniValue& middle = cases[i]["intermediary"];
        const UniValue& expected = cases[i]["expected"];
        const XOnlyKey internal = ToKey(given["internalPubkey"]);
        const bool tree = !given["scriptTree"].isNull();
        const Hash32 root = tree ? TreeRoot(given["scriptTree"]) : Hash32{};
        if (tree) CHECK(ToHex(root) == middle["merkleRoot"].get_str());
        const Hash32 tweak = Hashed("TapTweak", internal, tree ? ByteSpan(root) : ByteSpan());
        CHECK(ToHex(tweak) == middle["tweak"].get_str());
        const auto output = TweakXOnlyKey(internal, tweak);
        REQUIRE(output);
        CHECK(ToHex(output->first) == middle["tweakedPubkey"].get_str());
        Bytes script{OP_1};
        AppendPush(script, output->first);
        CHECK(ToHex(script) == expected["scriptPubKey"].get_str());
        if (!expected.exists("scriptPathControlBlocks")) continue;
        const UniValue& controls = expected["scriptPathControlBlocks"];
        for (size_t n = 0; n < controls.size(); ++n) {
            const Bytes control = *FromHex(controls[n].get_str());
            CHECK((control[0] & 1) == (output->second ? 1 : 0));
            Hash32 node = ToHash(middle["leafHashes"][n].get_str());
            for (size_t at = 33; at < control.size(); at += 32) {
                const ByteSpan other = ByteSpan(control).subspan(at, 32);
                const bool first = std::lexicographical_compare(node.begin(), node.end(),
                                                                other.begin(), other.end());
                node = first ? Hashed("TapBranch", node, other) : Hashed("TapBranch", other, node);
            }
            CHECK(node == root);
            ++blocks;
        }
    }
    std::cerr << "BIP341: " << cases.size() << " outputs, " << blocks << " control blocks\n";
    CHECK(cases.size() == 7);
}

TEST_CASE("BIP341 wallet vectors: hashes, signatures and the signed transaction")
{
    const auto path = TestData("core/bip341_wallet_vectors.json");
    if (!path) return;
    const UniValue json = ReadTestJson(*path);
    const UniValue& spend = json["keyPathSpending"][0];
    const auto unsigned_tx =
        Transaction::Parse(*FromHex(spend["given"]["rawUnsignedTx"].get_str()));
    const auto signed_tx =
        Transaction::Parse(*FromHex(spend["auxiliary"]["fullySignedTx"].get_str()));
    REQUIRE(unsigned_tx);
    REQUIRE(signed_tx);
    const UniValue& utxos = spend["given"]["utxosSpent"];
    std::vector<Bytes> scripts;
    std::vector<SpentOutput> spent;
    for (size_t i = 0; i < utxos.size(); ++i) {
        scripts.push_back(*FromHex(utxos[i]["scriptPubKey"].get_str()));
    }
    for (size_t i = 0; i < utxos.size(); ++i) {
        spent.push_back({utxos[i]["amountSats"].get_int64(), scripts[i]});
    }
    const TxView& tx = (*unsigned_tx)->View();
    const TxHashes hashes(tx, spent);
    const UniValue& middle = spend["intermediary"];
    CHECK(ToHex(hashes.OfSpent().amounts) == middle["hashAmounts"].get_str());
    CHECK(ToHex(hashes.OfTx().outputs) == middle["hashOutputs"].get_str());
    CHECK(ToHex(hashes.OfTx().prevouts) == middle["hashPrevouts"].get_str());
    CHECK(ToHex(hashes.OfSpent().scripts) == middle["hashScriptPubkeys"].get_str());
    CHECK(ToHex(hashes.OfTx().sequences) == middle["hashSequences"].get_str());
    const UniValue& inputs = spend["inputSpending"];
    for (size_t i = 0; i < inputs.size(); ++i) {
        const UniValue& given = inputs[i]["given"];
        const auto index = static_cast<size_t>(given["txinIndex"].get_int());
        const auto type = static_cast<uint8_t>(given["hashType"].get_int());
        const auto hash = TaprootSigHash(tx, index, spent[index], type, hashes, {});
        REQUIRE(hash);
        CHECK(ToHex(*hash) == inputs[i]["intermediary"]["sigHash"].get_str());
        const Bytes sig = *FromHex(inputs[i]["expected"]["witness"][0].get_str());
        const ByteSpan key = ByteSpan(scripts[index]).subspan(2);
        const TxSignatureChecker checker(tx, index, spent[index], hashes);
        CHECK(checker.CheckSchnorr(sig, key, {}) == ScriptError::kOk);
    }
    for (size_t i = 0; i < spent.size(); ++i) {
        CHECK(VerifyAt((*signed_tx)->View(), i, spent[i], spent, kAllFlags) == ScriptError::kOk);
        CHECK(VerifyAt(tx, i, spent[i], spent, kAllFlags) != ScriptError::kOk);
    }
    std::cerr << "BIP341: " << inputs.size() << " key path hashes, " << spent.size()
              << " signed inputs\n";
    CHECK(inputs.size() == 7);
    CHECK(spent.size() == 9);
}

TEST_CASE(
    "the original algorithm equals its slow reference on real transactions, any script and type")
{
    size_t inputs = 0;
    for (int number = 1; number <= 10; ++number) {
        const auto path = TestData("bcoin/tx" + std::to_string(number) + ".raw");
        if (!path) return;
        const auto tx = Transaction::Parse(ReadTestFile(*path));
        REQUIRE(tx);
        const TxView& view = (*tx)->View();
        for (size_t i = 0; i < view.inputs.size(); ++i, ++inputs) {
            Bytes script = RandomBytes(TestRng()() % 60);
            for (uint8_t& b : script) {
                if (b % 4 == 0) b = OP_CODESEPARATOR;
            }
            ScriptIterator it(script);
            size_t whole = 0;
            while (it.Next()) whole = it.End();
            script.resize(whole); // the reference knows no broken pushes
            for (const uint32_t type : {0U, 1U, 2U, 3U, 0x81U, 0x82U, 0x83U, 0xffU, 0x12345603U}) {
                CHECK(LegacySigHash(view, i, script, type) ==
                      SlowLegacySigHash(view, i, script, type));
            }
        }
    }
    std::cerr << "slow reference: " << inputs << " inputs of real transactions\n";
    CHECK(inputs > 20);
}
