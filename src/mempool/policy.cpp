// See policy.h.
#include "mempool/policy.h"

#include "consensus/limits.h"
#include "script/standard.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kMaxStandardScriptSig = 1'650; //!< bytes
constexpr size_t kMostBareMultisigKeys = 3;     //!< of an output
constexpr size_t kMostDustOutputs = 1;          //!< which a child must spend at once
constexpr size_t kBytesPerK = 1'000;
/** Size of spending an output besides its script: outpoint, length, sequence; signature and key,
 *  which count a quarter in a witness. */
constexpr int64_t kSpendSize = 36 + 1 + 107 + 4;
constexpr int64_t kWitnessSpendSize = 36 + 1 + 107 / kWitnessScaleFactor + 4;

RuleViolation NotStandard(const char* reason)
{
    return Violation(RuleViolation::Kind::kNotStandard, reason);
}

bool IsStandardShape(const ScriptTemplate& shape)
{
    if (shape.kind == ScriptKind::kNonStandard) return false;
    return shape.kind != ScriptKind::kMultisig || shape.parts.size() <= kMostBareMultisigKeys;
}

RuleResult CheckStandardInputs(const TxView& tx)
{
    for (const InputView& input : tx.inputs) {
        if (input.script_sig.size() > kMaxStandardScriptSig) return NotStandard("scriptsig-size");
        if (!IsPushOnly(input.script_sig)) return NotStandard("scriptsig-not-pushonly");
    }
    return {};
}

RuleResult CheckStandardOutputs(const TxView& tx, const PolicyOptions& policy)
{
    size_t datacarrier_left = policy.max_datacarrier;
    for (const OutputView& output : tx.outputs) {
        const ScriptTemplate shape = ClassifyScript(output.script_pubkey);
        if (!IsStandardShape(shape)) return NotStandard("scriptpubkey");
        if (shape.kind == ScriptKind::kNullData) {
            if (output.script_pubkey.size() > datacarrier_left) return NotStandard("datacarrier");
            datacarrier_left -= output.script_pubkey.size();
        } else if (shape.kind == ScriptKind::kMultisig && !policy.permit_bare_multisig) {
            return NotStandard("bare-multisig");
        }
    }
    return {};
}

int64_t OutputSize(const OutputView& output)
{
    const size_t script = output.script_pubkey.size();
    const size_t length = script < 0xfd ? 1 : script <= 0xffff ? 3 : 5;
    return static_cast<int64_t>(sizeof(Amount) + length + script);
}

} // namespace

bool SignalsReplacement(const TxView& tx)
{
    return std::any_of(tx.inputs.begin(), tx.inputs.end(),
                       [](const InputView& input) { return input.sequence <= kMostReplaceable; });
}

Amount FeeAt(Amount rate, int64_t size)
{
    constexpr auto kDivisor = static_cast<Amount>(kBytesPerK);
    return (rate * size + kDivisor - 1) / kDivisor;
}

int64_t AdjustedWeight(int64_t weight, int64_t sigop_cost, uint32_t bytes_per_sigop)
{
    return std::max(weight, sigop_cost * int64_t{bytes_per_sigop});
}

int64_t VirtualSize(int64_t adjusted_weight)
{
    return (adjusted_weight + kWitnessScaleFactor - 1) / kWitnessScaleFactor;
}

Amount DustLimit(const OutputView& output, Amount dust_fee)
{
    if (IsUnspendable(output.script_pubkey)) return 0;
    const bool witness = ParseWitnessProgram(output.script_pubkey).has_value();
    return FeeAt(dust_fee, OutputSize(output) + (witness ? kWitnessSpendSize : kSpendSize));
}

std::vector<uint32_t> DustOutputs(const TxView& tx, Amount dust_fee)
{
    std::vector<uint32_t> dust;
    for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
        if (tx.outputs[i].value < DustLimit(tx.outputs[i], dust_fee)) dust.push_back(i);
    }
    return dust;
}

RuleResult CheckStandardTx(const TxView& tx, const PolicyOptions& policy)
{
    if (tx.version < 1 || tx.version > kTrucVersion) return NotStandard("version");
    if (tx.Weight() > kMaxStandardWeight) return NotStandard("tx-size");
    IBD_RETURN_IF_VIOLATED(CheckStandardInputs(tx));
    IBD_RETURN_IF_VIOLATED(CheckStandardOutputs(tx, policy));
    if (DustOutputs(tx, policy.dust_fee).size() > kMostDustOutputs) return NotStandard("dust");
    return {};
}

} // namespace ibd
