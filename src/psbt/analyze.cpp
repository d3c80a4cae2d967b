// See analyze.h.
#include "psbt/analyze.h"

#include "consensus/sigops.h"
#include "psbt/sign_psbt.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr int64_t kBytesPerSigOp = 20; //!< size of a signature operation for policy
constexpr int64_t kWeightPerByte = 4;

PsbtAnalysis InvalidPsbt(std::string why)
{
    PsbtAnalysis out;
    out.next = PsbtRole::kCreator;
    out.error = std::move(why);
    return out;
}

/** Whether signatures, and only signatures, are missing. */
bool AwaitsSigner(const SpendData& missing)
{
    return missing.missing_keys.empty() && !missing.missing_redeem_script &&
           !missing.missing_witness_script && !missing.missing_signatures.empty();
}

/** May make the input final. */
void AnalyzeInput(Psbt& psbt, size_t index, const PsbtTx& tx, PsbtInputAnalysis& out)
{
    out.has_output = psbt.inputs[index].Spent().has_value();
    if (!out.has_output) out.next = PsbtRole::kUpdater;
    out.is_final = IsFinalAndValid(psbt.inputs[index], index, tx, tx.Hashes());
    if (out.is_final) return;
    const KeyRing no_keys;
    const PsbtSignResult result =
        SignPsbtInput(psbt, index, tx, no_keys, {}, PsbtSignatures::kTrue, &out.missing);
    if (result == PsbtSignResult::kComplete) {
        out.missing = {};
        out.next = PsbtRole::kFinalizer;
    } else {
        out.next = AwaitsSigner(out.missing) ? PsbtRole::kSigner : PsbtRole::kUpdater;
    }
}

/** Sum of the outputs; nothing if it is out of range. */
std::optional<Amount> TotalOut(const Psbt& psbt)
{
    Amount total = 0;
    for (const PsbtOutput& output : psbt.outputs) {
        if (!MoneyRange(output.output.value)) return std::nullopt;
        total += output.output.value;
        if (!MoneyRange(total)) return std::nullopt;
    }
    return total;
}

/** The size after signing; nothing if anything but signatures is missing. */
std::optional<int64_t> EstimateVsize(Psbt& psbt, const PsbtTx& tx)
{
    auto made = psbt.UnsignedTx();
    std::vector<MutableOutput> outputs;
    const KeyRing no_keys;
    for (size_t i = 0; i < psbt.inputs.size(); ++i) {
        if (SignPsbtInput(psbt, i, tx, no_keys, {}, PsbtSignatures::kDummy) !=
            PsbtSignResult::kComplete) {
            return std::nullopt;
        }
        made->inputs[i].script_sig = psbt.inputs[i].final_script_sig;
        made->inputs[i].witness = psbt.inputs[i].final_witness;
        outputs.push_back(psbt.inputs[i].Spent().value());
    }
    const TransactionRef frozen = made->Freeze();
    std::vector<SpentCoin> coins;
    for (const MutableOutput& output : outputs) {
        coins.push_back({output.value, output.script_pubkey, 1, false});
    }
    const int64_t sigops = TransactionSigOpCost(frozen->View(), coins, kStandardVerifyFlags);
    const int64_t weight = std::max(frozen->View().Weight(), sigops * kBytesPerSigOp);
    return (weight + kWeightPerByte - 1) / kWeightPerByte;
}

/** Rounded down, also for negative values. */
Amount FeeRate(Amount fee, int64_t vsize)
{
    constexpr Amount kPerBytes = 1000;
    const Amount scaled = fee * kPerBytes;
    return scaled / vsize - (scaled % vsize < 0 ? 1 : 0);
}

} // namespace

const char* PsbtRoleName(PsbtRole role)
{
    switch (role) {
    case PsbtRole::kCreator: return "creator";
    case PsbtRole::kUpdater: return "updater";
    case PsbtRole::kSigner: return "signer";
    case PsbtRole::kFinalizer: return "finalizer";
    case PsbtRole::kExtractor: return "extractor";
    }
    return "";
}

PsbtAnalysis AnalyzePsbt(Psbt psbt)
{
    const auto tx = PsbtTx::Of(psbt);
    if (!tx) return InvalidPsbt("PSBT cannot be made into a valid transaction");
    PsbtAnalysis out;
    out.inputs.resize(psbt.inputs.size());
    Amount total_in = 0;
    bool all_known = true;
    for (size_t i = 0; i < psbt.inputs.size(); ++i) {
        const auto spent = psbt.inputs[i].Spent();
        if (spent && (!MoneyRange(spent->value) || !MoneyRange(total_in + spent->value))) {
            return InvalidPsbt(fmt::format("PSBT is not valid. Input {} has invalid value", i));
        }
        if (spent && IsUnspendable(spent->script_pubkey)) {
            return InvalidPsbt(
                fmt::format("PSBT is not valid. Input {} spends unspendable output", i));
        }
        all_known &= spent.has_value();
        if (spent) total_in += spent->value;
        AnalyzeInput(psbt, i, *tx, out.inputs[i]);
        out.next = std::min(out.next, out.inputs[i].next);
    }
    if (!all_known) return out;
    const auto total_out = TotalOut(psbt);
    if (!total_out) return InvalidPsbt("PSBT is not valid. Output amount invalid");
    out.fee = total_in - *total_out;
    out.estimated_vsize = EstimateVsize(psbt, *tx);
    if (out.estimated_vsize) out.estimated_fee_rate = FeeRate(*out.fee, *out.estimated_vsize);
    return out;
}

} // namespace ibd
