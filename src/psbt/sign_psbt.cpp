// See sign_psbt.h.
#include "psbt/sign_psbt.h"

#include "primitives/serialize.h"
#include "psbt/spend_data.h"

#include <algorithm>

namespace ibd {

namespace {

std::vector<SpentOutput> AllOf(const std::vector<std::optional<MutableOutput>>& outputs)
{
    std::vector<SpentOutput> out;
    for (const auto& output : outputs) {
        if (!output) return {};
        out.push_back({output->value, output->script_pubkey});
    }
    return out;
}

bool IsTaproot(ByteSpan script) { return ClassifyScript(script).kind == ScriptKind::kTaproot; }

/** Whether all existing signatures have the hash type. */
bool SignaturesHaveType(const PsbtInput& input, int32_t type)
{
    const auto schnorr_has_it = [&](const Bytes& signature) {
        constexpr size_t kSize = std::tuple_size_v<SchnorrSignature>;
        if (type == kSigHashDefault) return signature.size() == kSize;
        return signature.size() == kSize + 1 && signature.back() == type;
    };
    if (!input.taproot_signature.empty() && !schnorr_has_it(input.taproot_signature)) return false;
    for (const auto& [whose, signature] : input.taproot_script_signatures) {
        if (!schnorr_has_it(signature)) return false;
    }
    return type == kSigHashDefault ||
           std::all_of(input.partial_signatures.begin(), input.partial_signatures.end(),
                       [&](const auto& one) { return one.second.second.back() == type; });
}

/** The hash type to sign with; noted in the input unless it is the default. Nothing: the input
 *  requires another one. */
std::optional<int32_t> ChooseHashType(PsbtInput& input, ByteSpan script,
                                      const std::optional<int32_t>& wanted)
{
    const bool taproot = IsTaproot(script);
    const int32_t type = wanted.value_or(taproot ? kSigHashDefault : kSigHashAll);
    if (input.sighash_type && *input.sighash_type != type) return std::nullopt;
    const bool usual = type == kSigHashDefault || (!taproot && type == kSigHashAll);
    if (!usual) input.sighash_type = type;
    return SignaturesHaveType(input, type) ? std::optional(type) : std::nullopt;
}

Bytes WitnessBytes(const std::vector<Bytes>& witness)
{
    Bytes out;
    Writer writer(out);
    for (const Bytes& item : witness) writer.VarBytes(item);
    return out;
}

void CopyMissing(const SpendData& data, SpendData* missing)
{
    if (missing == nullptr) return;
    missing->missing_keys = data.missing_keys;
    missing->missing_signatures = data.missing_signatures;
    missing->missing_redeem_script = data.missing_redeem_script;
    missing->missing_witness_script = data.missing_witness_script;
}

} // namespace

PsbtTx::PsbtTx(TransactionRef tx, std::vector<std::optional<MutableOutput>> spent)
    : m_tx(std::move(tx)), m_outputs(std::move(spent)), m_spent(AllOf(m_outputs)),
      m_hashes(m_tx->View(), m_spent), m_blind_hashes(m_tx->View(), {})
{
}

std::unique_ptr<const PsbtTx> PsbtTx::Of(const Psbt& psbt)
{
    const auto tx = psbt.UnsignedTx();
    if (!tx) return nullptr;
    std::vector<std::optional<MutableOutput>> spent;
    for (const PsbtInput& input : psbt.inputs) spent.push_back(input.Spent());
    return std::unique_ptr<const PsbtTx>(new PsbtTx(tx->Freeze(), std::move(spent)));
}

bool IsFinalAndValid(const PsbtInput& input, size_t index, const PsbtTx& tx, const TxHashes& hashes)
{
    const auto spent = input.Spent();
    if (!spent) return false;
    const TxSignatureChecker checker(tx.View(), index, {spent->value, spent->script_pubkey},
                                     hashes);
    const Bytes items = WitnessBytes(input.final_witness);
    const WitnessView witness{items, static_cast<uint32_t>(input.final_witness.size())};
    return VerifyScript(input.final_script_sig, spent->script_pubkey, witness, kStandardVerifyFlags,
                        checker) == ScriptError::kOk;
}

PsbtSignResult SignPsbtInput(Psbt& psbt, size_t index, const PsbtTx& tx, const KeyRing& keys,
                             const PsbtSignOptions& options, PsbtSignatures signatures,
                             SpendData* missing)
{
    PsbtInput& input = psbt.inputs[index];
    const bool dummy = signatures == PsbtSignatures::kDummy;
    const TxHashes& hashes = dummy ? tx.BlindHashes() : tx.Hashes();
    if (IsFinalAndValid(input, index, tx, hashes)) return PsbtSignResult::kComplete;
    const auto spent = input.Spent();
    if (!spent) return PsbtSignResult::kNoOutput;
    const auto type = ChooseHashType(input, spent->script_pubkey, options.sighash_type);
    if (!type) return PsbtSignResult::kSighashMismatch;

    SpendData data = SpendDataOf(input);
    const SpentOutput output{spent->value, spent->script_pubkey};
    const TxSignatureMaker true_maker(tx.View(), index, output, hashes, static_cast<uint8_t>(*type),
                                      keys);
    const DummySignatureMaker dummy_maker;
    const SignatureMaker& maker = dummy ? static_cast<const SignatureMaker&>(dummy_maker)
                                        : static_cast<const SignatureMaker&>(true_maker);
    const bool complete = Solve(output.script_pubkey, keys, maker, data);
    // The output alone proves nothing, so only signatures that commit to it are acceptable.
    if (!input.non_witness_utxo && !data.by_witness) return PsbtSignResult::kIncomplete;
    if (!options.finalize) data.complete = false;
    TakeSpendData(input, data);
    if (data.by_witness) input.witness_utxo = *spent;
    CopyMissing(data, missing);
    return complete ? PsbtSignResult::kComplete : PsbtSignResult::kIncomplete;
}

void UpdatePsbtOutput(Psbt& psbt, size_t index, const KeyRing& keys)
{
    PsbtOutput& output = psbt.outputs[index];
    SpendData data = SpendDataOf(output);
    Solve(output.output.script_pubkey, keys, NoSignatureMaker(), data);
    TakeSpendData(output, data);
}

void DropNeedlessTransactions(Psbt& psbt)
{
    const bool all_commit =
        std::all_of(psbt.inputs.begin(), psbt.inputs.end(), [](const PsbtInput& input) {
            if (!input.witness_utxo) return false;
            const auto program = ParseWitnessProgram(input.witness_utxo->script_pubkey);
            const bool anyone = (input.sighash_type.value_or(0) & kSigHashAnyoneCanPay) != 0;
            return program && program->version > 0 && !anyone;
        });
    if (!all_commit) return;
    for (PsbtInput& input : psbt.inputs) input.non_witness_utxo = nullptr;
}

bool FinalizePsbt(Psbt& psbt)
{
    const auto tx = PsbtTx::Of(psbt);
    if (!tx) return false;
    const KeyRing no_keys;
    bool complete = true;
    for (size_t i = 0; i < psbt.inputs.size(); ++i) {
        const PsbtSignOptions options{psbt.inputs[i].sighash_type};
        complete &= SignPsbtInput(psbt, i, *tx, no_keys, options) == PsbtSignResult::kComplete;
    }
    return complete;
}

std::optional<MutableTransaction> FinalizeAndExtract(Psbt& psbt)
{
    if (!FinalizePsbt(psbt)) return std::nullopt;
    auto tx = psbt.UnsignedTx();
    for (size_t i = 0; tx && i < tx->inputs.size(); ++i) {
        tx->inputs[i].script_sig = psbt.inputs[i].final_script_sig;
        tx->inputs[i].witness = psbt.inputs[i].final_witness;
    }
    return tx;
}

} // namespace ibd
