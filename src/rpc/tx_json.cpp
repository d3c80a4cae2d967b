// See tx_json.h.
#include "rpc/tx_json.h"
#include "script/descriptor.h"
#include "util/hex.h"

namespace ibd {

namespace {

/** BIP66: 30 len 02 len R 02 len S, both numbers shortest and positive, then a hash type. */
bool IsStrictDerWithHashType(ByteSpan s)
{
    if (s.size() < 9 || s.size() > 73 || s[0] != 0x30 || s[1] != s.size() - 3) return false;
    const auto number_ends = [&](size_t at) -> size_t { // offset after the number, 0 if malformed
        if (at + 2 > s.size() || s[at] != 0x02 || s[at + 1] == 0) return 0;
        const size_t first = at + 2;
        const size_t end = first + s[at + 1];
        if (end + 1 > s.size() || (s[first] & 0x80) != 0) return 0;
        const bool padded = s[at + 1] > 1 && s[first] == 0 && (s[first + 1] & 0x80) == 0;
        return padded ? 0 : end;
    };
    const size_t r_end = number_ends(2);
    const size_t s_end = r_end == 0 ? 0 : number_ends(r_end);
    return s_end != 0 && s_end + 1 == s.size();
}

const char* HashTypeName(uint8_t type)
{
    switch (type) {
    case 0x01: return "[ALL]";
    case 0x02: return "[NONE]";
    case 0x03: return "[SINGLE]";
    case 0x81: return "[ALL|ANYONECANPAY]";
    case 0x82: return "[NONE|ANYONECANPAY]";
    case 0x83: return "[SINGLE|ANYONECANPAY]";
    default: return nullptr;
    }
}

std::string PushToAsm(ByteSpan data, bool decode_sighash)
{
    if (data.size() <= 4) return std::to_string(*DecodeScriptNum(data, /*require_minimal=*/false));
    if (decode_sighash && IsStrictDerWithHashType(data)) {
        if (const char* name = HashTypeName(data.back())) {
            return ToHex(data.first(data.size() - 1)) + name;
        }
    }
    return ToHex(data);
}

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

std::string ScriptToAsm(ByteSpan script, bool decode_sighash)
{
    const bool decode = decode_sighash && !IsUnspendable(script);
    std::string text;
    ScriptIterator it(script);
    while (it.Next()) {
        if (!text.empty()) text += ' ';
        text += it.Op() <= OP_PUSHDATA4 ? PushToAsm(it.Data(), decode) : OpcodeName(it.Op());
    }
    if (it.Failed()) text += text.empty() ? "[error]" : " [error]";
    return text;
}

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
        total_out += tx.outputs[i].value;
    }
    out.pushKV("vout", outputs);
    if (options.spent != nullptr) out.pushKV("fee", AmountJson(total_in - total_out));
    if (options.block_hash) out.pushKV("blockhash", options.block_hash->ToHex());
    if (options.include_hex) out.pushKV("hex", ToHex(tx.raw));
}

} // namespace ibd
