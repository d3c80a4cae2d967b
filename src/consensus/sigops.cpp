// See sigops.h.
#include "consensus/sigops.h"

#include "script/script.h"
#include "util/check.h"
#include "util/endian.h"

#include <algorithm>
#include <array>

namespace ibd {
namespace {

/** Counts the witness script, which is the last item. */
unsigned WitnessScriptSigOps(const InputView& input)
{
    if (input.witness_items == 0) return 0;
    ByteSpan script;
    ForEachWitnessItem(input, [&](ByteSpan item) { script = item; });
    return CountSigOps(script, true);
}

/** BIP141: 1 for a key hash, the witness script's operations for a script hash, else 0. */
unsigned ProgramSigOps(const WitnessProgram& program, const InputView& input)
{
    if (program.version != 0) return 0;
    if (program.program.size() == 20) return 1;
    return program.program.size() == 32 ? WitnessScriptSigOps(input) : 0;
}

/** The last push of a push-only script; empty if it is not push-only. */
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

/** First four and last two bytes of the output scripts of one size with a known count. All zero
 *  means that the size has none: GCC 12 emits zeros for unassigned elements of such a table,
 *  regardless of their initialisers. */
struct OutputShape {
    uint8_t known = 0; //!< 1: there is a known shape
    uint8_t sigops = 0;
    uint16_t end_mask = 0;
    uint16_t end = 0;
    uint32_t begin_mask = 0;
    uint32_t begin = 0;
    uint32_t other_begin = 0;
};

constexpr size_t kShapeSizes = 35;

constexpr std::array<OutputShape, kShapeSizes> kOutputShapes = [] {
    const auto bytes = [](uint32_t a, uint32_t b, uint32_t c = 0) { return a | b << 8 | c << 16; };
    std::array<OutputShape, kShapeSizes> shapes{};
    const uint32_t p2wpkh = bytes(OP_0, 20), p2sh = bytes(OP_HASH160, 20);
    const uint32_t p2pkh = bytes(OP_DUP, OP_HASH160, 20);
    shapes[22] = {1, 0, 0, 0, 0xffff, p2wpkh, p2wpkh};
    shapes[23] = {1, 0, 0xff00, OP_EQUAL << 8, 0xffff, p2sh, p2sh};
    shapes[25] = {1, 1, 0xffff, OP_EQUALVERIFY | OP_CHECKSIG << 8, 0xffffff, p2pkh, p2pkh};
    shapes[34] = {1, 0, 0, 0, 0xffff, bytes(OP_0, 32), bytes(OP_1, 32)}; // P2WSH, P2TR
    return shapes;
}();

/** CountSigOps of an output's script; recognises common shapes without walking them. Shapes occur
 *  in random order, so branches only test whether it is any known shape, not which one. */
unsigned OutputSigOps(ByteSpan script)
{
    if (script.size() >= 4 && script.size() < kShapeSizes) {
        const OutputShape& shape = kOutputShapes[script.size()];
        const uint32_t begin = ReadLE32(script.data()) & shape.begin_mask;
        const uint16_t end = ReadLE16(script.data() + script.size() - 2) & shape.end_mask;
        const int begins = int{begin == shape.begin} | int{begin == shape.other_begin};
        if (shape.known & begins & int{end == shape.end}) return shape.sigops;
    }
    return CountSigOps(script, false);
}

} // namespace

unsigned LegacySigOpCount(std::span<const InputView> inputs, std::span<const OutputView> outputs)
{
    unsigned count = 0;
    for (const InputView& input : inputs) {
        if (!input.script_sig.empty()) count += CountSigOps(input.script_sig, false);
    }
    for (const OutputView& output : outputs) count += OutputSigOps(output.script_pubkey);
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
    int64_t cost = int64_t{LegacySigOpCount(tx.inputs, tx.outputs)} * kWitnessScaleFactor;
    if (tx.IsCoinbase()) return cost;
    CHECK(coins.size() == tx.inputs.size());
    if (flags & kVerifyP2sh) cost += int64_t{P2shSigOpCount(tx, coins)} * kWitnessScaleFactor;
    for (size_t i = 0; i < coins.size(); ++i) {
        cost += WitnessSigOpCount(tx.inputs[i], coins[i].script_pubkey, flags);
    }
    return cost;
}

int64_t MostSigOpCost(const TxView& tx)
{
    int64_t cost = int64_t{LegacySigOpCount(tx.inputs, tx.outputs)} * kWitnessScaleFactor;
    if (tx.IsCoinbase()) return cost;
    for (const InputView& input : tx.inputs) cost += MostSpendSigOpCost(input);
    return cost;
}

/** Assumes P2SH, and P2WPKH or P2WSH. */
int64_t MostSpendSigOpCost(const InputView& input)
{
    return int64_t{CountSigOps(LastPush(input.script_sig), true)} * kWitnessScaleFactor +
           std::max(1u, WitnessScriptSigOps(input));
}

int64_t SpendSigOpCost(const InputView& input, ByteSpan script_pubkey, ScriptFlags flags)
{
    int64_t cost = WitnessSigOpCount(input, script_pubkey, flags);
    if ((flags & kVerifyP2sh) && IsPayToScriptHash(script_pubkey)) {
        cost += int64_t{CountP2shSigOps(script_pubkey, input.script_sig)} * kWitnessScaleFactor;
    }
    return cost;
}

} // namespace ibd
