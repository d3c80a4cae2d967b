#include "consensus/sigops.h"

#include "script/script.h"
#include "util/check.h"

namespace ibd {
namespace {

/** BIP141: 1 for a key hash, the witness script's operations for a script hash, else 0. */
unsigned ProgramSigOps(const WitnessProgram& program, const InputView& input)
{
    if (program.version != 0) return 0;
    if (program.program.size() == 20) return 1;
    if (program.program.size() != 32 || input.witness_items == 0) return 0;
    ByteSpan script;
    ForEachWitnessItem(input, [&](ByteSpan item) { script = item; });
    return CountSigOps(script, true);
}

/** What a push-only script pushes last; empty if it is not push-only. */
ByteSpan LastPush(ByteSpan script)
{
    ByteSpan last;
    ScriptIterator it(script);
    while (it.Next()) {
        if (it.Op() > OP_16) return {};
        last = it.Data();
    }
    return it.Failed() ? ByteSpan() : last;
}

/** CountSigOps of an output's script; knows the usual shapes without walking them. */
unsigned OutputSigOps(ByteSpan script)
{
    const auto starts = [&](uint8_t first, uint8_t second) {
        return script[0] == first && script[1] == second;
    };
    switch (script.size()) {
    case 22:
        if (starts(OP_0, 20)) return 0; // P2WPKH
        break;
    case 23:
        if (starts(OP_HASH160, 20) && script[22] == OP_EQUAL) return 0; // P2SH
        break;
    case 25:
        if (starts(OP_DUP, OP_HASH160) && script[2] == 20 && script[23] == OP_EQUALVERIFY &&
            script[24] == OP_CHECKSIG) {
            return 1; // P2PKH
        }
        break;
    case 34:
        if (starts(OP_0, 32) || starts(OP_1, 32)) return 0; // P2WSH, P2TR
        break;
    default: break;
    }
    return CountSigOps(script, false);
}

} // namespace

unsigned LegacySigOpCount(const TxView& tx)
{
    unsigned count = 0;
    for (const InputView& input : tx.inputs) {
        if (!input.script_sig.empty()) count += CountSigOps(input.script_sig, false);
    }
    for (const OutputView& output : tx.outputs) count += OutputSigOps(output.script_pubkey);
    return count;
}

unsigned P2shSigOpCount(const TxView& tx, std::span<const SpentCoin> coins)
{
    if (tx.IsCoinbase()) return 0;
    CHECK(coins.size() == tx.inputs.size());
    unsigned count = 0;
    for (size_t i = 0; i < coins.size(); ++i) {
        if (IsPayToScriptHash(coins[i].script_pubkey)) {
            count += CountP2shSigOps(coins[i].script_pubkey, tx.inputs[i].script_sig);
        }
    }
    return count;
}

unsigned WitnessSigOpCount(const InputView& input, ByteSpan script_pubkey, ScriptFlags flags)
{
    if ((flags & kVerifyWitness) == 0) return 0;
    if (const auto program = ParseWitnessProgram(script_pubkey)) {
        return ProgramSigOps(*program, input);
    }
    if (!IsPayToScriptHash(script_pubkey)) return 0;
    const auto nested = ParseWitnessProgram(LastPush(input.script_sig));
    return nested ? ProgramSigOps(*nested, input) : 0;
}

int64_t TransactionSigOpCost(const TxView& tx, std::span<const SpentCoin> coins, ScriptFlags flags)
{
    int64_t cost = int64_t{LegacySigOpCount(tx)} * kWitnessScaleFactor;
    if (tx.IsCoinbase()) return cost;
    CHECK(coins.size() == tx.inputs.size());
    if (flags & kVerifyP2sh) cost += int64_t{P2shSigOpCount(tx, coins)} * kWitnessScaleFactor;
    for (size_t i = 0; i < coins.size(); ++i) {
        cost += WitnessSigOpCount(tx.inputs[i], coins[i].script_pubkey, flags);
    }
    return cost;
}

} // namespace ibd
