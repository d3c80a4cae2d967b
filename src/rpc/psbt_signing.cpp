// The calls that add data of the chainstate and of descriptors to PSBTs; see util_calls.h.
#include "psbt/sign_psbt.h"
#include "rpc/descriptors.h"
#include "rpc/index_use.h"
#include "rpc/psbt_json.h"
#include "rpc/tx_build.h"
#include "rpc/util_calls.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

/** A witness program, or a script hash of one in the ring. */
bool IsWitnessOutput(ByteSpan script, const KeyRing& keys)
{
    if (ParseWitnessProgram(script)) return true;
    const ScriptTemplate shape = ClassifyScript(script);
    if (shape.kind != ScriptKind::kScriptHash) return false;
    Hash20 hash;
    std::copy_n(shape.parts[0].begin(), hash.size(), hash.begin());
    const auto inner = keys.scripts.find(hash);
    return inner != keys.scripts.end() && ParseWitnessProgram(inner->second);
}

/** A transaction of -txindex, if it is on, or else of the pool. Null: there is none. */
TransactionRef FindTx(const PoolContext& context, const TxIndex* index, const Txid& txid)
{
    if (index) {
        const auto found = OrThrow(index->Find(context.chain.Chain().Blocks(), txid));
        if (found) return found->tx;
    }
    return FindInPool(context.pool, txid);
}

/** Adds the previous transactions that are found, and coins of the chainstate that are spent by
 *  witness. Other coins need the whole previous transaction. */
void AddCoins(const PoolContext& context, const KeyRing& keys, Psbt& psbt)
{
    const auto tx = psbt.UnsignedTx();
    if (!tx) throw RpcError{RpcCode::kVerify, "The transaction cannot be valid"};
    const TxIndex* const index = FindIndex(context.chain, &Indexes::Tx);
    if (index) WaitForTip(context.chain, *index);
    for (size_t i = 0; i < psbt.inputs.size(); ++i) {
        TransactionRef& previous = psbt.inputs[i].non_witness_utxo;
        if (!previous) previous = FindTx(context, index, tx->inputs[i].prevout.txid);
    }
    const auto coins = FindSpent(context, *tx);
    for (size_t i = 0; i < psbt.inputs.size(); ++i) {
        PsbtInput& input = psbt.inputs[i];
        if (input.non_witness_utxo || !coins[i]) continue;
        if (IsWitnessOutput(coins[i]->script_pubkey, keys)) input.witness_utxo = *coins[i];
    }
}

Psbt Process(const PoolContext& context, const UniValue& base64, const KeyRing& keys,
             const PsbtSignOptions& options)
{
    Psbt psbt = ParsePsbt(base64);
    AddCoins(context, keys, psbt);
    const auto tx = PsbtTx::Of(psbt);
    for (size_t i = 0; i < psbt.inputs.size(); ++i) {
        if (psbt.inputs[i].IsFinal()) continue;
        if (SignPsbtInput(psbt, i, *tx, keys, options) == PsbtSignResult::kSighashMismatch) {
            throw RpcError{RpcCode::kDeserialization,
                           "Specified sighash value does not match value stored in PSBT"};
        }
    }
    for (size_t i = 0; i < psbt.outputs.size(); ++i) UpdatePsbtOutput(psbt, i, keys);
    DropNeedlessTransactions(psbt);
    return psbt;
}

UniValue UpdatePsbt(const PoolContext& context, const RpcCall& call)
{
    KeyRing keys;
    if (call.Has(1)) keys = CollectScanObjects(call.At(1), context.chain.Chain().Params());
    keys.secrets.clear(); // this call must not sign
    PsbtSignOptions options;
    options.finalize = false;
    return PsbtText(Process(context, call.At(0), keys, options));
}

UniValue ProcessPsbt(const PoolContext& context, const RpcCall& call)
{
    KeyRing keys = CollectScanObjects(call.At(1), context.chain.Chain().Params());
    PsbtSignOptions options;
    if (const auto type = HashTypeArgument(call, 2)) options.sighash_type = *type;
    if (!call.Bool(3, true)) keys.origins.clear();
    options.finalize = call.Bool(4, true);
    Psbt psbt = Process(context, call.At(0), keys, options);
    const bool complete = std::all_of(psbt.inputs.begin(), psbt.inputs.end(),
                                      [](const PsbtInput& input) { return input.IsFinal(); });
    UniValue out(UniValue::VOBJ);
    out.pushKV("psbt", PsbtText(psbt));
    out.pushKV("complete", Bool(complete));
    if (!complete) return out;
    const auto tx = FinalizeAndExtract(psbt);
    if (!tx) throw RpcError{RpcCode::kMisc, "A final script or witness of the PSBT is wrong"};
    out.pushKV("hex", ToHex(tx->Serialize()));
    return out;
}

RpcArg DescriptorsArg(bool required)
{
    return {"descriptors",
            RpcType::kArray,
            required,
            "",
            "Descriptors, or objects of \"desc\" and \"range\" (the last position, or the first "
            "and the last; 1000 without)",
            {},
            "[\"\",{\"desc\":\"str\",\"range\":n or [n,n]},...]"};
}

RpcMethod UpdateMethod(PoolContext& context)
{
    return {"rawtransactions",
            "utxoupdatepsbt",
            "Adds data to a PSBT: the unspent outputs that it spends by witness; the transactions "
            "that it spends from, out of the pool or, with -txindex, out of blocks; and the keys "
            "with paths and the scripts of descriptors.",
            {PsbtArg(), DescriptorsArg(false)},
            "\"base64\"    (string) The PSBT",
            "\"psbt\"",
            [&context](const RpcCall& call) { return UpdatePsbt(context, call); }};
}

RpcMethod ProcessMethod(PoolContext& context)
{
    return {
        "rawtransactions",
        "descriptorprocesspsbt",
        "Does the same as utxoupdatepsbt, and signs with the private keys of the descriptors.",
        {PsbtArg(),
         DescriptorsArg(true),
         WithCliForm({"sighashtype", RpcType::kString, false, "DEFAULT for Taproot, ALL otherwise",
                      "DEFAULT, or ALL, NONE or SINGLE with or without |ANYONECANPAY; must be "
                      "that of the PSBT, if it has one"},
                     CliForm::kFreeText),
         {"bip32derivs", RpcType::kBool, false, "true", "Whether to add the origins of keys"},
         {"finalize", RpcType::kBool, false, "true",
          "Whether to make final scripts of inputs that have all signatures"}},
        "{\n  \"psbt\" : \"base64\",   (string) The PSBT\n"
        "  \"complete\" : bool,   (boolean) Whether all inputs are signed\n"
        "  \"hex\" : \"hex\"        (string) Then the transaction\n}",
        "\"psbt\" '[\"descriptor1\",\"descriptor2\"]'\n"
        "\"psbt\" '[{\"desc\":\"mydescriptor\",\"range\":21}]'",
        [&context](const RpcCall& call) { return ProcessPsbt(context, call); }};
}

} // namespace

void AddPsbtSigningMethods(RpcTable& table, PoolContext& context)
{
    table.Add(UpdateMethod(context));
    table.Add(ProcessMethod(context));
}

} // namespace ibd
