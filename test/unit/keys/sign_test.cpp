// Signing: a signature spends its output and no other; partial signatures are combined.
#include "keys/sign.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

SecretKey Secret(uint8_t number, bool compressed = true)
{
    SecretKey key;
    key.bytes[31] = number;
    key.compressed = compressed;
    return key;
}

KeyRing Ring(std::initializer_list<SecretKey> secrets)
{
    KeyRing keys;
    for (const SecretKey& secret : secrets) keys.AddSecret(secret);
    return keys;
}

Bytes KeyOf(uint8_t number)
{
    const CompressedKey key = Signer().PublicKey(Secret(number).bytes);
    return {key.begin(), key.end()};
}

Bytes PayToKey(uint8_t number)
{
    Bytes script;
    AppendPush(script, KeyOf(number));
    script.push_back(OP_CHECKSIG);
    return script;
}

/** Two of the secrets 1, 2 and 3. */
Bytes TwoOfThree()
{
    Bytes script{OP_2};
    for (const uint8_t number : {1, 2, 3}) AppendPush(script, KeyOf(number));
    script.push_back(OP_3);
    script.push_back(OP_CHECKMULTISIG);
    return script;
}

Bytes InWitness(ByteSpan script) { return WitnessProgramScript(0, Sha256Of(script)); }
Bytes InScriptHash(ByteSpan script) { return ScriptHashScript(Hash160(script)); }

MutableTransaction SpendOne()
{
    MutableTransaction tx;
    tx.inputs.emplace_back().prevout.txid = Txid::FromBytes(KeyOf(9).data());
    tx.outputs.push_back({900, PayToKey(4)});
    return tx;
}

/** The fault of the one input; empty if it is signed. */
std::string Sign(MutableTransaction& tx, const KeyRing& keys, const Bytes& script,
                 uint8_t hash_type = kSigHashDefault)
{
    const auto faults = SignTransaction(tx, keys, {MutableOutput{1000, script}}, hash_type);
    return faults.empty() ? "" : faults.begin()->second;
}

/** Under the rules of consensus and policy. */
bool Spends(const MutableTransaction& tx, const Bytes& script, Amount value = 1000)
{
    const TransactionRef frozen = tx.Freeze();
    const SpentOutput spent{value, script};
    const TxHashes hashes(frozen->View(), {&spent, 1});
    return VerifyInput(frozen->View(), 0, spent, hashes, kStandardVerifyFlags) == ScriptError::kOk;
}

struct Case {
    Bytes script;
    std::vector<Bytes> known; //!< scripts that the output names by their hashes
};

std::vector<Case> Cases()
{
    const Bytes key_hash = WitnessProgramScript(0, Hash160(KeyOf(1)));
    std::vector<Case> cases = {{PayToKey(1), {}},
                               {PubkeyHashScript(Hash160(KeyOf(1))), {}},
                               {key_hash, {}},
                               {InScriptHash(key_hash), {key_hash}}};
    for (const Bytes& inner : {PayToKey(1), TwoOfThree()}) {
        cases.push_back({inner, {}});
        cases.push_back({InScriptHash(inner), {inner}});
        cases.push_back({InWitness(inner), {inner}});
        cases.push_back({InScriptHash(InWitness(inner)), {inner, InWitness(inner)}});
    }
    return cases;
}

} // namespace

TEST_CASE("every shape is signed, with every hash type", "[sign]")
{
    for (const Case& one : Cases()) {
        KeyRing keys = Ring({Secret(1), Secret(3)});
        for (const Bytes& script : one.known) keys.AddScript(script);
        for (const char* name : {"DEFAULT", "ALL", "NONE", "SINGLE", "ALL|ANYONECANPAY",
                                 "NONE|ANYONECANPAY", "SINGLE|ANYONECANPAY"}) {
            MutableTransaction tx = SpendOne();
            CHECK(Sign(tx, keys, one.script, *ParseSigHashName(name)).empty());
            CHECK(Spends(tx, one.script));
            // Outputs are signed unless the type says NONE.
            tx.outputs[0].value = 800;
            CHECK(Spends(tx, one.script) == std::string(name).starts_with("NONE"));
        }
    }
}

TEST_CASE("without key, script or amount nothing is signed", "[sign]")
{
    for (const Case& one : Cases()) {
        KeyRing keys = Ring({Secret(8)});
        for (const Bytes& script : one.known) keys.AddScript(script);
        MutableTransaction tx = SpendOne();
        CHECK_FALSE(Sign(tx, keys, one.script).empty());
        if (one.known.empty()) continue;
        MutableTransaction other = SpendOne();
        CHECK_FALSE(Sign(other, Ring({Secret(1), Secret(3)}), one.script).empty());
    }
    MutableTransaction tx = SpendOne();
    const auto faults = SignTransaction(tx, Ring({Secret(1)}), {std::nullopt}, kSigHashDefault);
    CHECK(faults.at(0) == "Input not found or already spent");
}

TEST_CASE("uncompressed keys sign where they may", "[sign]")
{
    const UncompressedKey key = Signer().UncompressedPublicKey(Secret(1).bytes);
    Bytes script;
    AppendPush(script, key);
    script.push_back(OP_CHECKSIG);
    KeyRing keys = Ring({Secret(1, false)});
    keys.AddScript(script);
    for (const Bytes& output : {script, InScriptHash(script)}) {
        MutableTransaction tx = SpendOne();
        CHECK(Sign(tx, keys, output).empty());
        CHECK(Spends(tx, output));
    }
    MutableTransaction tx = SpendOne();
    CHECK_FALSE(Sign(tx, keys, InWitness(script)).empty());
}

TEST_CASE("a taproot output is signed by its own key, of either parity", "[sign]")
{
    for (uint8_t number = 1; number < 12; ++number) {
        const Bytes script = WitnessProgramScript(1, Signer().XOnlyPublicKey(Secret(number).bytes));
        for (const uint8_t type : {kSigHashDefault, kSigHashAll}) {
            MutableTransaction tx = SpendOne();
            CHECK(Sign(tx, Ring({Secret(number)}), script, type).empty());
            CHECK(Spends(tx, script));
            CHECK(tx.inputs[0].witness[0].size() == (type == kSigHashDefault ? 64 : 65));
        }
    }
}

TEST_CASE("signatures of several signers add up", "[sign]")
{
    const Bytes inner = TwoOfThree();
    for (const Bytes& output :
         {inner, InScriptHash(inner), InWitness(inner), InScriptHash(InWitness(inner))}) {
        std::vector<MutableTransaction> parts;
        for (const uint8_t number : {3, 1}) {
            KeyRing keys = Ring({Secret(number)});
            keys.AddScript(inner);
            keys.AddScript(InWitness(inner));
            parts.push_back(SpendOne());
            CHECK_FALSE(Sign(parts.back(), keys, output).empty());
            CHECK_FALSE(Spends(parts.back(), output));
        }
        const SpentOutput spent{1000, output};
        SpendData data;
        for (const MutableTransaction& part : parts) {
            data.Merge(ExtractSpend(part.Freeze()->View(), 0, spent));
        }
        CHECK(data.signatures.size() == 2);
        MutableTransaction tx = SpendOne();
        const TransactionRef frozen = tx.Freeze();
        const TxHashes hashes(frozen->View(), {});
        const KeyRing none;
        const TxSignatureMaker maker(frozen->View(), 0, spent, hashes, kSigHashAll, none);
        CHECK(Solve(output, none, maker, data));
        tx.inputs[0].script_sig = data.script_sig;
        tx.inputs[0].witness = data.witness;
        CHECK(Spends(tx, output));
        // A second signer may also add to the result of the first.
        KeyRing second = Ring({Secret(1)});
        second.AddScript(inner);
        second.AddScript(InWitness(inner));
        CHECK(Sign(parts[0], second, output).empty());
        CHECK(Spends(parts[0], output));
    }
}

TEST_CASE("names of hash types", "[sign]")
{
    CHECK(ParseSigHashName("ALL") == kSigHashAll);
    CHECK(ParseSigHashName("SINGLE|ANYONECANPAY") == (kSigHashSingle | kSigHashAnyoneCanPay));
    for (const char* bad : {"", "all", "DEFAULT|ANYONECANPAY", "|ANYONECANPAY", "ALL|", "ALL "}) {
        CHECK_FALSE(ParseSigHashName(bad));
    }
}

} // namespace ibd::test
