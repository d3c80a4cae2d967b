// See spend_policy.h.
#include "mempool/spend_policy.h"

#include "primitives/witness_items.h"
#include "script/interpreter.h"
#include "script/no_signatures.h"
#include "script/standard.h"
#include "script/taproot.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr unsigned kMostP2shSigOps = 15;
constexpr unsigned kMostLegacySigOps = 2'500; //!< BIP54
constexpr size_t kMaxP2wshScript = 3'600;     //!< bytes
constexpr size_t kMaxP2wshItems = 100;        //!< besides the script
constexpr size_t kMaxP2wshItem = 80;          //!< bytes
constexpr size_t kMaxTapscriptItem = 80;      //!< bytes
constexpr uint8_t kAnnexTag = 0x50;           //!< BIP341
constexpr size_t kProgramSize = 32;           //!< of P2WSH and P2TR

ScriptError Pushes(ByteSpan script_sig, ScriptStack& stack)
{
    return EvalScript(stack, script_sig, kVerifyNone, NoSignatures(), SigVersion::kBase);
}

template <typename... Args>
RuleViolation NotStandardInput(fmt::format_string<Args...> text, Args&&... args)
{
    return Violation(RuleViolation::Kind::kInputsNotStandard, "bad-txns-nonstandard-inputs",
                     fmt::format(text, std::forward<Args>(args)...));
}

/** Counted exactly, where they can be executed (BIP54). */
bool HasTooManyLegacySigOps(const TxView& tx, std::span<const SpentCoin> coins)
{
    unsigned count = 0;
    for (size_t i = 0; i < coins.size() && count <= kMostLegacySigOps; ++i) {
        count += CountSigOps(tx.inputs[i].script_sig, true);
        count += CountP2shSigOps(coins[i].script_pubkey, tx.inputs[i].script_sig);
    }
    return count > kMostLegacySigOps;
}

RuleResult CheckRedeemScript(size_t number, ByteSpan script_sig)
{
    ScriptStack stack;
    const ScriptError error = Pushes(script_sig, stack);
    if (error != ScriptError::kOk) {
        return NotStandardInput("p2sh scriptsig malformed (input {}: {})", number,
                                ScriptErrorText(error));
    }
    if (stack.empty()) return NotStandardInput("input {} P2SH redeemscript missing", number);
    const unsigned count = CountSigOps(stack.back(), true);
    if (count <= kMostP2shSigOps) return {};
    return NotStandardInput("p2sh redeemscript sigops exceed limit (input {}: {} > {})", number,
                            count, kMostP2shSigOps);
}

bool AllWithin(std::span<const ByteSpan> items, size_t most)
{
    return std::all_of(items.begin(), items.end(),
                       [&](ByteSpan item) { return item.size() <= most; });
}

bool IsStandardP2wsh(std::span<const ByteSpan> items)
{
    const std::span<const ByteSpan> arguments = items.first(items.size() - 1);
    return items.back().size() <= kMaxP2wshScript && arguments.size() <= kMaxP2wshItems &&
           AllWithin(arguments, kMaxP2wshItem);
}

bool IsStandardTaproot(std::span<const ByteSpan> items)
{
    if (items.size() < 2) return true; // key path
    if (!items.back().empty() && items.back()[0] == kAnnexTag) return false;
    const ByteSpan control = items.back();
    if (control.empty()) return false;
    if ((control[0] & kLeafMask) != kLeafTapscript) return true;
    return AllWithin(items.first(items.size() - 2), kMaxTapscriptItem);
}

/** The script that an input has to satisfy: that of P2SH, which is then in `stack`, or else
 *  `script_pubkey`. Nothing: the input does not show it. */
std::optional<ByteSpan> SpentScript(ByteSpan script_sig, ByteSpan script_pubkey, ScriptStack& stack)
{
    if (!IsPayToScriptHash(script_pubkey)) return script_pubkey;
    if (Pushes(script_sig, stack) != ScriptError::kOk || stack.empty()) return std::nullopt;
    return stack.back();
}

/** For an input with at least one item. */
bool IsStandardWitness(const InputView& input, ByteSpan script_pubkey)
{
    if (IsPayToAnchor(script_pubkey)) return false;
    ScriptStack stack;
    const bool p2sh = IsPayToScriptHash(script_pubkey);
    const auto script = SpentScript(input.script_sig, script_pubkey, stack);
    if (!script) return false;
    const auto program = ParseWitnessProgram(*script);
    if (!program) return false;
    if (program->program.size() != kProgramSize) return true;
    if (program->version == 0) return IsStandardP2wsh(WitnessItems(input));
    if (program->version == 1 && !p2sh) return IsStandardTaproot(WitnessItems(input));
    return true;
}

} // namespace

RuleResult CheckStandardSpends(const TxView& tx, std::span<const SpentCoin> coins)
{
    if (HasTooManyLegacySigOps(tx, coins)) {
        return NotStandardInput("non-witness sigops exceed bip54 limit");
    }
    for (size_t i = 0; i < coins.size(); ++i) {
        switch (ClassifyScript(coins[i].script_pubkey).kind) {
        case ScriptKind::kNonStandard: return NotStandardInput("input {} script unknown", i);
        case ScriptKind::kWitnessUnknown:
            return NotStandardInput("input {} witness program is undefined", i);
        case ScriptKind::kScriptHash:
            IBD_RETURN_IF_VIOLATED(CheckRedeemScript(i, tx.inputs[i].script_sig));
            break;
        default: break;
        }
    }
    return {};
}

bool SpendsWitnessProgram(const TxView& tx, std::span<const SpentOutput> spent)
{
    for (size_t i = 0; i < spent.size(); ++i) {
        const ByteSpan script_pubkey = spent[i].script_pubkey;
        if (IsPayToAnchor(script_pubkey)) continue;
        ScriptStack stack;
        const auto script = SpentScript(tx.inputs[i].script_sig, script_pubkey, stack);
        if (script && ParseWitnessProgram(*script)) return true;
    }
    return false;
}

bool IsStandardWitness(const TxView& tx, std::span<const SpentCoin> coins)
{
    for (size_t i = 0; i < coins.size(); ++i) {
        const InputView& input = tx.inputs[i];
        if (input.witness_items > 0 && !IsStandardWitness(input, coins[i].script_pubkey)) {
            return false;
        }
    }
    return true;
}

} // namespace ibd
