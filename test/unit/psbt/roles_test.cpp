// The roles: several signers' shares make a transaction whose scripts run; what combiner and
// analyst say on the way.
#include "keys/output_descriptor.h"
#include "psbt/analyze.h"
#include "psbt/combine.h"
#include "psbt/psbt_kit.h"
#include "psbt/sign_psbt.h"
#include "support/must.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

const DescriptorNetwork kMain{
    {0, 5, "bc"}, {{0x04, 0x88, 0xb2, 0x1e}, {0x04, 0x88, 0xad, 0xe4}}, 128};

SecretKey Secret(uint8_t number)
{
    SecretKey key;
    key.bytes[31] = number;
    return key;
}

/** As a descriptor writes it: secret, or public. */
std::string Key(uint8_t number, bool secret)
{
    if (secret) return EncodeSecretKey(Secret(number), kMain.secret_key_prefix);
    return ToHex(Signer().PublicKey(Secret(number).bytes));
}

/** Wallet of a descriptor with keys A and B; `secret` names the ones given as private keys. */
struct Wallet {
    Wallet(const std::string& shape, const std::string& secret)
    {
        std::string text;
        for (const char c : shape) {
            const bool known = secret.find(c) != std::string::npos;
            const bool is_key = c == 'A' || c == 'B';
            text += is_key ? Key(static_cast<uint8_t>(c - 'A' + 1), known) : std::string(1, c);
        }
        const auto parsed = OutputDescriptor::Parse(text, kMain, false);
        if (!parsed) FAIL(parsed.Message());
        REQUIRE(parsed.Value()[0].Collect(0, keys));
        script = parsed.Value()[0].Expand(0)->at(0).script;
    }
    KeyRing keys;
    Bytes script;
};

const std::vector<std::string> kShapes = {"pkh(A)",
                                          "wpkh(A)",
                                          "sh(wpkh(A))",
                                          "wsh(multi(2,A,B))",
                                          "sh(multi(2,B,A))",
                                          "sh(wsh(multi(1,A,B)))",
                                          "tr(A)",
                                          "wsh(pkh(A))"};

/** Spends an output of that script in a whole transaction. */
Psbt Spending(const Bytes& script, uint32_t version)
{
    MutableTransaction funding;
    funding.inputs.emplace_back();
    funding.outputs.push_back({5000, script});
    MutableTransaction tx;
    tx.inputs.emplace_back().prevout = {funding.Id(), 0};
    tx.outputs.push_back({4000, script});
    Psbt psbt = Psbt::FromTransaction(tx, version);
    psbt.inputs[0].non_witness_utxo = funding.Freeze();
    return psbt;
}

PsbtSignResult Sign(Psbt& psbt, const KeyRing& keys, const PsbtSignOptions& options = {})
{
    return SignPsbtInput(psbt, 0, *PsbtTx::Of(psbt), keys, options);
}

} // namespace

TEST_CASE("two signers, a combiner and a finalizer make a valid transaction", "[psbt]")
{
    for (const std::string& shape : kShapes) {
        for (const uint32_t version : {0U, kPsbtVersion2}) {
            INFO(shape);
            const Psbt made = Spending(Wallet(shape, "").script, version);
            const PsbtSignOptions keep{std::nullopt, false};
            Psbt first = made, second = made;
            Sign(first, Wallet(shape, "A").keys, keep);
            Sign(second, Wallet(shape, "B").keys, keep);
            CHECK_FALSE(first.inputs[0].IsFinal());
            REQUIRE(CombinePsbt(first, second));
            Psbt psbt = Must(DecodePsbt(EncodePsbt(first)));
            CHECK(AnalyzePsbt(psbt).next == PsbtRole::kFinalizer);
            CHECK(AnalyzePsbt(psbt).fee == 1000);
            const auto tx = FinalizeAndExtract(psbt);
            REQUIRE(tx);
            CHECK(AnalyzePsbt(psbt).next == PsbtRole::kExtractor);
            const TransactionRef frozen = tx->Freeze();
            const SpentOutput spent{5000, psbt.outputs[0].output.script_pubkey};
            const TxHashes hashes(frozen->View(), {&spent, 1});
            CHECK(VerifyInput(frozen->View(), 0, spent, hashes, kStandardVerifyFlags) ==
                  ScriptError::kOk);
        }
    }
}

TEST_CASE("the analysis names the next role and the missing parts", "[psbt]")
{
    Psbt psbt = Spending(Wallet("wsh(multi(2,A,B))", "").script, kPsbtVersion2);
    PsbtAnalysis analysis = AnalyzePsbt(psbt);
    CHECK(analysis.next == PsbtRole::kUpdater);
    CHECK(analysis.inputs[0].missing.missing_witness_script);
    CHECK_FALSE(analysis.estimated_vsize);
    Sign(psbt, Wallet("wsh(multi(2,A,B))", "").keys);
    analysis = AnalyzePsbt(psbt);
    CHECK(analysis.next == PsbtRole::kSigner);
    CHECK(analysis.inputs[0].missing.missing_signatures.size() == 2);
    REQUIRE(analysis.estimated_vsize);
    CHECK(analysis.estimated_fee_rate == 1000 * 1000 / *analysis.estimated_vsize);
    Sign(psbt, Wallet("wsh(multi(2,A,B))", "A").keys);
    CHECK(AnalyzePsbt(psbt).inputs[0].missing.missing_signatures.size() == 1);

    psbt.inputs[0].non_witness_utxo = nullptr;
    psbt.inputs[0].witness_utxo->value = kMaxMoney + 1;
    CHECK(AnalyzePsbt(psbt).error == "PSBT is not valid. Input 0 has invalid value");
    psbt.inputs[0].witness_utxo = MutableOutput{1, {OP_RETURN}};
    CHECK(AnalyzePsbt(psbt).error == "PSBT is not valid. Input 0 spends unspendable output");
    psbt.inputs[0].witness_utxo.reset();
    CHECK_FALSE(AnalyzePsbt(psbt).inputs[0].has_output);
    CHECK_FALSE(AnalyzePsbt(psbt).fee);
}

TEST_CASE("an output alone is not enough for what does not commit to it", "[psbt]")
{
    const Wallet wallet("pkh(A)", "A");
    Psbt psbt = Spending(wallet.script, 0);
    psbt.inputs[0].non_witness_utxo = nullptr;
    CHECK(Sign(psbt, wallet.keys) == PsbtSignResult::kNoOutput);
    psbt.inputs[0].witness_utxo = MutableOutput{5000, wallet.script};
    CHECK(Sign(psbt, wallet.keys) == PsbtSignResult::kIncomplete);
    CHECK(psbt.inputs[0].partial_signatures.empty());
}

TEST_CASE("no input is signed with another hash type than it requires", "[psbt]")
{
    const Wallet wallet("wpkh(A)", "A");
    Psbt psbt = Spending(wallet.script, 0);
    psbt.inputs[0].sighash_type = kSigHashNone;
    CHECK(Sign(psbt, wallet.keys) == PsbtSignResult::kSighashMismatch);
    CHECK(Sign(psbt, wallet.keys, {kSigHashNone, true}) == PsbtSignResult::kComplete);
    Psbt other = Spending(wallet.script, 0);
    CHECK(Sign(other, wallet.keys, {kSigHashSingle, false}) == PsbtSignResult::kComplete);
    CHECK(other.inputs[0].sighash_type == kSigHashSingle);
    other.inputs[0].sighash_type.reset();
    CHECK(Sign(other, wallet.keys) == PsbtSignResult::kSighashMismatch); // a signature has it
}

TEST_CASE("only PSBTs about the same transaction are combined", "[psbt]")
{
    const Bytes script = Wallet("wpkh(A)", "").script;
    Psbt psbt = Spending(script, kPsbtVersion2);
    Psbt other = psbt;
    other.inputs[0].sequence = 7; // not part of the common fields
    other.modifiable = uint8_t{7};
    psbt.modifiable = uint8_t{1};
    REQUIRE(CombinePsbt(psbt, other));
    CHECK(psbt.modifiable == uint8_t{5});
    CHECK(psbt.inputs[0].sequence == 0xffffffff);
    other.outputs[0].output.value = 1;
    CHECK_FALSE(CombinePsbt(psbt, other));
    CHECK_FALSE(CombinePsbt(psbt, Spending(script, 0)));
}

TEST_CASE("joining removes signatures and finds outputs that are spent twice", "[psbt]")
{
    const Wallet wallet("wpkh(A)", "A");
    Psbt one = Spending(wallet.script, 0);
    Sign(one, wallet.keys);
    CHECK(one.inputs[0].IsFinal());
    Psbt joined = Psbt::FromTransaction({}, 0);
    CHECK_FALSE(JoinPsbt(joined, one));
    CHECK_FALSE(joined.inputs[0].IsFinal());
    CHECK(joined.outputs.size() == 1);
    CHECK(JoinPsbt(joined, one) == one.inputs[0].prevout);
    CHECK(joined.inputs.size() == 1);
}

TEST_CASE("whole transactions are dropped only where signatures commit to outputs", "[psbt]")
{
    for (const auto& [shape, dropped] : {std::pair("tr(A)", true), std::pair("wpkh(A)", false)}) {
        const Wallet wallet(shape, "A");
        Psbt psbt = Spending(wallet.script, 0);
        Sign(psbt, wallet.keys);
        Psbt anyone = psbt;
        anyone.inputs[0].sighash_type = kSigHashAll | kSigHashAnyoneCanPay;
        DropNeedlessTransactions(psbt);
        DropNeedlessTransactions(anyone);
        CHECK((psbt.inputs[0].non_witness_utxo == nullptr) == dropped);
        CHECK(anyone.inputs[0].non_witness_utxo != nullptr);
    }
}

TEST_CASE("outputs get the data of a descriptor", "[psbt]")
{
    const Wallet wallet("tr(A,{pk(B),multi_a(1,A,B)})", "");
    Psbt psbt = Spending(wallet.script, 0);
    UpdatePsbtOutput(psbt, 0, wallet.keys);
    const PsbtOutput& output = psbt.outputs[0];
    CHECK(output.taproot_internal_key);
    CHECK(output.taproot_leaves.size() == 2);
    CHECK(output.taproot_origins.size() == 2);
    CHECK(ToHex(EncodePsbt(Must(DecodePsbt(EncodePsbt(psbt))))) == ToHex(EncodePsbt(psbt)));
    const Wallet nested("sh(wsh(multi(1,A,B)))", "");
    Psbt other = Spending(nested.script, kPsbtVersion2);
    UpdatePsbtOutput(other, 0, nested.keys);
    CHECK_FALSE(other.outputs[0].redeem_script.empty());
    CHECK_FALSE(other.outputs[0].witness_script.empty());
    CHECK(other.outputs[0].key_origins.size() == 2);
}

} // namespace ibd::test
