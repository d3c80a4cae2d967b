// See tx_json.h.
#include "rpc/tx_json.h"
#include "keys/asm.h"
#include "keys/descriptor.h"
#include "rpc/amount_json.h"
#include "util/hex.h"

namespace ibd {

namespace {

UniValue InputJson(const TxView& tx, size_t i, const AddressPrefixes& prefixes,
                   const TxJsonOptions& options)
{
    const InputView& input = tx.inputs[i];
    UniValue out(UniValue::VOBJ);
    if (tx.IsCoinbase()) {
        out.pushKV("coinbase", ToHex(input.script_sig));
    } else {
        const OutPoint prevout = input.Prevout();
        out.pushKV("txid", prevout.txid.ToHex());
        out.pushKV("vout", Num(prevout.vout));
        UniValue script(UniValue::VOBJ);
        script.pushKV("asm", ScriptToAsm(input.script_sig, true));
        script.pushKV("hex", ToHex(input.script_sig));
        out.pushKV("scriptSig", script);
    }
    if (input.witness_items != 0) {
        UniValue items(UniValue::VARR);
        ForEachWitnessItem(input, [&](ByteSpan item) { items.push_back(ToHex(item)); });
        out.pushKV("txinwitness", items);
    }
    if (options.spent != nullptr && options.with_prevouts) {
        const Coin& coin = (*options.spent)[i];
        UniValue prevout(UniValue::VOBJ);
        prevout.pushKV("generated", Bool(coin.coinbase));
        prevout.pushKV("height", Num(coin.height));
        prevout.pushKV("value", AmountJson(coin.value));
        prevout.pushKV("scriptPubKey", ScriptPubKeyJson(coin.script, prefixes));
        out.pushKV("prevout", prevout);
    }
    out.pushKV("sequence", Num(input.sequence));
    return out;
}

} // namespace

UniValue ScriptPubKeyJson(ByteSpan script, const AddressPrefixes& prefixes)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("asm", ScriptToAsm(script, false));
    out.pushKV("desc", InferDescriptor(script, prefixes));
    out.pushKV("hex", ToHex(script));
    if (const auto address = EncodeAddress(script, prefixes)) out.pushKV("address", *address);
    out.pushKV("type", ScriptKindName(ClassifyScript(script).kind));
    return out;
}

UniValue InnerScriptJson(ByteSpan script)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("asm", ScriptToAsm(script, false));
    out.pushKV("hex", ToHex(script));
    out.pushKV("type", ScriptKindName(ClassifyScript(script).kind));
    return out;
}

void AppendTxJson(UniValue& out, const TxView& tx, const AddressPrefixes& prefixes,
                  const TxJsonOptions& options)
{
    out.pushKV("txid", tx.txid.ToHex());
    out.pushKV("hash", tx.WitnessHash().ToHex());
    out.pushKV("version", Num(tx.version));
    out.pushKV("size", Num(tx.raw.size()));
    out.pushKV("vsize", Num((tx.Weight() + 3) / 4));
    out.pushKV("weight", Num(tx.Weight()));
    out.pushKV("locktime", Num(tx.lock_time));
    UniValue inputs(UniValue::VARR);
    Amount total_in = 0;
    for (size_t i = 0; i < tx.inputs.size(); ++i) {
        inputs.push_back(InputJson(tx, i, prefixes, options));
        if (options.spent != nullptr) total_in += (*options.spent)[i].value;
    }
    out.pushKV("vin", inputs);
    UniValue outputs(UniValue::VARR);
    Amount total_out = 0;
    for (size_t i = 0; i < tx.outputs.size(); ++i) {
        UniValue entry(UniValue::VOBJ);
        entry.pushKV("value", AmountJson(tx.outputs[i].value));
        entry.pushKV("n", Num(i));
        entry.pushKV("scriptPubKey", ScriptPubKeyJson(tx.outputs[i].script_pubkey, prefixes));
        outputs.push_back(entry);
        // Amounts are within their range only in transactions with known spent outputs.
        if (options.spent != nullptr) total_out += tx.outputs[i].value;
    }
    out.pushKV("vout", outputs);
    if (options.spent != nullptr) out.pushKV("fee", AmountJson(total_in - total_out));
    if (options.block_hash) out.pushKV("blockhash", options.block_hash->ToHex());
    if (options.include_hex) out.pushKV("hex", ToHex(tx.raw));
}

} // namespace ibd
