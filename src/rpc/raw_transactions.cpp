// createrawtransaction, combinerawtransaction and signrawtransactionwithkey; see
// util_calls.h.
#include "jsonrpc/json.h"
#include "keys/asm.h"
#include "keys/sign.h"
#include "rpc/tx_build.h"
#include "rpc/tx_decode.h"
#include "rpc/util_calls.h"
#include "util/hex.h"

namespace ibd {

namespace {

/** The id without signatures, which is common to variants of one transaction. */
Txid UnsignedId(MutableTransaction tx)
{
    for (MutableInput& input : tx.inputs) input.script_sig.clear();
    return tx.Id();
}

std::vector<TransactionRef> DecodeVariants(const UniValue& list)
{
    if (list.size() < 2) {
        throw RpcError{RpcCode::kDeserialization,
                       "Missing transactions. At least two transactions required."};
    }
    std::vector<TransactionRef> out;
    for (const UniValue& hex : list.getValues()) {
        out.push_back(DecodeTx(ParseString(hex)));
        if (out.back()) continue;
        ThrowRpc(RpcCode::kDeserialization,
                 "TX decode failed for tx {}. Make sure the tx has at least one input.",
                 out.size() - 1);
    }
    const Txid first = UnsignedId(MutableTransaction::FromView(out[0]->View()));
    for (size_t i = 1; i < out.size(); ++i) {
        if (UnsignedId(MutableTransaction::FromView(out[i]->View())) == first) continue;
        ThrowRpc(RpcCode::kInvalidParameter,
                 "Transaction number {} not compatible with first transaction", i + 1);
    }
    return out;
}

UniValue Combine(const PoolContext& context, const RpcCall& call)
{
    const std::vector<TransactionRef> variants = DecodeVariants(call.At(0));
    MutableTransaction merged = MutableTransaction::FromView(variants[0]->View());
    const auto spent = FindSpent(context, merged);
    const TxView& tx = variants[0]->View();
    const TxHashes hashes(tx, {});
    const KeyRing no_keys;
    for (size_t i = 0; i < merged.inputs.size(); ++i) {
        if (!spent[i]) {
            throw RpcError{RpcCode::kVerify, "Input not found or already spent"};
        }
        const SpentOutput output{spent[i]->value, spent[i]->script_pubkey};
        SpendData data;
        for (const TransactionRef& variant : variants) {
            data.Merge(ExtractSpend(variant->View(), i, output));
        }
        const TxSignatureMaker maker(tx, i, output, hashes, kSigHashAll, no_keys);
        Solve(output.script_pubkey, no_keys, maker, data);
        merged.inputs[i].script_sig = data.script_sig;
        merged.inputs[i].witness = data.witness;
    }
    return ToHex(merged.Serialize());
}

Bytes WitnessScriptHash(ByteSpan script) { return WitnessProgramScript(0, Sha256Of(script)); }

/** Adds the scripts of a previous output to the ring. */
void AddScripts(const UniValue& json, const Bytes& script_pubkey, KeyRing& keys)
{
    RequireMember(json, "redeemScript", UniValue::VSTR, true);
    RequireMember(json, "witnessScript", UniValue::VSTR, true);
    const UniValue& redeem = json["redeemScript"];
    const UniValue& witness = json["witnessScript"];
    if (redeem.isNull() && witness.isNull()) {
        throw RpcError{RpcCode::kInvalidParameter, "Missing redeemScript/witnessScript"};
    }
    const Bytes script = !witness.isNull() ? ParseHexArgument(witness, "witnessScript")
                                           : ParseHexArgument(redeem, "redeemScript");
    const Bytes wrapped = WitnessScriptHash(script);
    keys.AddScript(script);
    keys.AddScript(wrapped); // for a witness script inside a script hash
    const bool both = !witness.isNull() && !redeem.isNull();
    if (both && witness.getValStr() != redeem.getValStr() &&
        ParseHexArgument(redeem, "redeemScript") != wrapped) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "redeemScript does not correspond to witnessScript"};
    }
    const bool fits = IsPayToScriptHash(script_pubkey)
                          ? script_pubkey == ScriptHashScript(Hash160(script)) ||
                                script_pubkey == ScriptHashScript(Hash160(wrapped))
                          : script_pubkey == wrapped;
    if (!fits) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "redeemScript/witnessScript does not match scriptPubKey"};
    }
}

using SpentByOutPoint = std::map<OutPoint, MutableOutput>;

/** One entry of "prevtxs": an output that may be unknown to the chain. */
void AddPrevious(const UniValue& json, SpentByOutPoint& spent, KeyRing& keys)
{
    if (!json.isObject()) {
        throw RpcError{RpcCode::kDeserialization,
                       "expected object with {\"txid'\",\"vout\",\"scriptPubKey\"}"};
    }
    RequireMember(json, "scriptPubKey", UniValue::VSTR);
    RequireMember(json, "txid", UniValue::VSTR);
    RequireMember(json, "vout", UniValue::VNUM);
    OutPoint outpoint{ParseHash(json["txid"], "txid"), 0};
    const auto vout = ParseInt<int32_t>(json["vout"]);
    if (vout < 0) throw RpcError{RpcCode::kDeserialization, "vout cannot be negative"};
    outpoint.vout = static_cast<uint32_t>(vout);
    const Bytes script = ParseHexArgument(json["scriptPubKey"], "scriptPubKey");
    const auto known = spent.find(outpoint);
    if (known != spent.end() && known->second.script_pubkey != script) {
        ThrowRpc(RpcCode::kDeserialization, "Previous output scriptPubKey mismatch:\n{}\nvs:\n{}",
                 ScriptToAsm(known->second.script_pubkey), ScriptToAsm(script));
    }
    const Amount amount = json.exists("amount") ? ParseAmount(json["amount"]) : kMaxMoney;
    spent[outpoint] = {amount, script};
    const ScriptKind kind = ClassifyScript(script).kind;
    if (kind == ScriptKind::kScriptHash || kind == ScriptKind::kWitnessV0ScriptHash) {
        AddScripts(json, script, keys);
    }
}

UniValue InputFaultJson(const MutableInput& input, const std::string& fault)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("txid", input.prevout.txid.ToHex());
    out.pushKV("vout", Num(input.prevout.vout));
    UniValue witness(UniValue::VARR);
    for (const Bytes& item : input.witness) witness.push_back(ToHex(item));
    out.pushKV("witness", witness);
    out.pushKV("scriptSig", ToHex(input.script_sig));
    out.pushKV("sequence", Num(input.sequence));
    out.pushKV("error", fault);
    return out;
}

KeyRing ParseSecrets(const UniValue& list, uint8_t prefix)
{
    KeyRing keys;
    for (const UniValue& text : list.getValues()) {
        const auto secret = DecodeSecretKey(ParseString(text), prefix);
        if (!secret) throw RpcError{RpcCode::kInvalidAddressOrKey, "Invalid private key"};
        keys.AddSecret(*secret);
    }
    return keys;
}

/** The output spent by each input, from the pool, the chain and "prevtxs". */
std::vector<std::optional<MutableOutput>> Previous(const PoolContext& context,
                                                   const MutableTransaction& tx,
                                                   const UniValue& list, KeyRing& keys)
{
    SpentByOutPoint known;
    const auto found = FindSpent(context, tx);
    for (size_t i = 0; i < tx.inputs.size(); ++i) {
        if (found[i]) known[tx.inputs[i].prevout] = *found[i];
    }
    for (size_t i = 0; i < list.size(); ++i) AddPrevious(list[i], known, keys);
    std::vector<std::optional<MutableOutput>> out;
    for (const MutableInput& input : tx.inputs) {
        const auto it = known.find(input.prevout);
        out.emplace_back();
        if (it != known.end()) out.back() = it->second;
    }
    return out;
}

UniValue SignWithKey(const PoolContext& context, const RpcCall& call)
{
    const TransactionRef given = DecodeTx(call.String(0));
    if (!given) {
        throw RpcError{RpcCode::kDeserialization,
                       "TX decode failed. Make sure the tx has at least one input."};
    }
    const ChainParams& params = context.chain.Chain().Params();
    MutableTransaction tx = MutableTransaction::FromView(given->View());
    KeyRing keys = ParseSecrets(call.At(1), params.secret_key_prefix);
    const auto spent = Previous(context, tx, call.At(2), keys);
    const auto faults =
        SignTransaction(tx, keys, spent, HashTypeArgument(call, 3).value_or(kSigHashDefault));
    UniValue errors(UniValue::VARR);
    for (const auto& [i, fault] : faults) {
        if (fault == "Missing amount") {
            const MutableOutput& output = *spent[i];
            ThrowRpc(RpcCode::kTypeError,
                     "Missing amount for CTxOut(nValue={}.{:08}, scriptPubKey={})",
                     output.value / kCoin, output.value % kCoin,
                     ToHex(output.script_pubkey).substr(0, 30));
        }
        errors.push_back(InputFaultJson(tx.inputs[i], fault));
    }
    UniValue out(UniValue::VOBJ);
    out.pushKV("hex", ToHex(tx.Serialize()));
    out.pushKV("complete", Bool(faults.empty()));
    if (!errors.empty()) out.pushKV("errors", errors);
    return out;
}

RpcMethod SignMethod(PoolContext& context)
{
    return {
        "rawtransactions",
        "signrawtransactionwithkey",
        "Signs the inputs of a transaction with the given keys.",
        {{"hexstring", RpcType::kString, true, "", "The transaction"},
         {"privkeys",
          RpcType::kArray,
          true,
          "",
          "The private keys",
          {{"privatekey", RpcType::kHex, false, "", "One of them"}}},
         {"prevtxs",
          RpcType::kArray,
          false,
          "",
          "Spent outputs that are not on the chain. Scripts are required if the output has only "
          "their hash, amounts if signatures are in the witness",
          {},
          "[{\"txid\":\"hex\",\"vout\":n,\"scriptPubKey\":\"hex\",\"redeemScript\":\"hex\","
          "\"witnessScript\":\"hex\",\"amount\":amount},...]"},
         {"sighashtype", RpcType::kString, false, "DEFAULT for Taproot, ALL otherwise",
          "DEFAULT, or ALL, NONE or SINGLE with or without |ANYONECANPAY"}},
        "{\n"
        "  \"hex\": \"hex\",              (string) The transaction\n"
        "  \"complete\": bool,          (boolean) Whether all inputs are signed\n"
        "  \"errors\": [                (json array) Inputs whose scripts are not satisfied\n"
        "    {\n"
        "      \"txid\": \"hex\",         (string) The transaction that made the spent output\n"
        "      \"vout\": n,             (numeric) Number of the output\n"
        "      \"witness\": [ \"hex\" ],  (json array) Witness of the input\n"
        "      \"scriptSig\": \"hex\",    (string) Script of the input\n"
        "      \"sequence\": n,         (numeric) Sequence number of the input\n"
        "      \"error\": \"str\"         (string) What is missing or wrong\n"
        "    }, ...\n"
        "  ]\n"
        "}",
        "\"myhex\" '[\"key1\",\"key2\"]'",
        [&context](const RpcCall& call) { return SignWithKey(context, call); }};
}

} // namespace

void AddRawTransactionMethods(RpcTable& table, PoolContext& context)
{
    table.Add({"rawtransactions", "createrawtransaction",
               "Makes a transaction with the given inputs and outputs. It is not signed, and its "
               "inputs are not looked up.",
               TransactionArgs(), "\"hex\"    (string) The transaction",
               "'[{\"txid\":\"myid\",\"vout\":0}]' '[{\"address\":0.01}]'",
               [&context](const RpcCall& call) -> UniValue {
                   return ToHex(BuildTransaction(call, context.chain.Prefixes()).Serialize());
               }});
    table.Add({"rawtransactions",
               "combinerawtransaction",
               "Combines partly signed copies of a transaction into one with all signatures.",
               {{"txs",
                 RpcType::kArray,
                 true,
                 "",
                 "The transactions as hex",
                 {{"hexstring", RpcType::kHex, false, "", "One of them"}}}},
               "\"hex\"    (string) The transaction",
               "'[\"myhex1\", \"myhex2\"]'",
               [&context](const RpcCall& call) { return Combine(context, call); }});
    table.Add(SignMethod(context));
    table.AnswerEarly({"createrawtransaction"});
}

} // namespace ibd
