// See psbt_json.h.
#include "rpc/psbt_json.h"
#include "rpc/amount_json.h"

#include "keys/asm.h"
#include "keys/base58.h"
#include "psbt/codec.h"
#include "rpc/tx_json.h"
#include "util/base64.h"
#include "util/hex.h"

namespace ibd {

namespace {

/** Adds the array, unless it is empty. */
void PushIfAny(UniValue& out, const char* name, const UniValue& list)
{
    if (!list.empty()) out.pushKV(name, list);
}

void PushHexIfAny(UniValue& out, const char* name, ByteSpan bytes)
{
    if (!bytes.empty()) out.pushKV(name, ToHex(bytes));
}

UniValue ProprietaryJson(const PsbtProprietaries& entries)
{
    UniValue out(UniValue::VARR);
    for (const auto& [key, entry] : entries) {
        UniValue one(UniValue::VOBJ);
        one.pushKV("identifier", ToHex(entry.identifier));
        one.pushKV("subtype", Num(entry.subtype));
        one.pushKV("key", ToHex(key));
        one.pushKV("value", ToHex(entry.value));
        out.push_back(one);
    }
    return out;
}

/** Keys and values as hex. */
template <typename Map>
UniValue HexPairs(const Map& map)
{
    UniValue out(UniValue::VOBJ);
    for (const auto& [key, value] : map) out.__pushKV(ToHex(key), ToHex(value));
    return out;
}

void PushOrigin(UniValue& out, const KeyOrigin& origin)
{
    out.pushKV("master_fingerprint", ToHex(origin.fingerprint));
    out.pushKV("path", "m" + FormatKeyPath(origin.path, false));
}

UniValue KeyOriginsJson(const PsbtKeyOrigins& origins)
{
    UniValue out(UniValue::VARR);
    for (const auto& [key, origin] : origins) {
        UniValue one(UniValue::VOBJ);
        one.pushKV("pubkey", ToHex(key));
        PushOrigin(one, origin);
        out.push_back(one);
    }
    return out;
}

UniValue TapOriginsJson(const PsbtTapOrigins& origins)
{
    UniValue out(UniValue::VARR);
    for (const auto& [key, from] : origins) {
        UniValue one(UniValue::VOBJ);
        one.pushKV("pubkey", ToHex(key));
        PushOrigin(one, from.second);
        UniValue leaves(UniValue::VARR);
        for (const Hash32& leaf : from.first) leaves.push_back(ToHex(leaf));
        one.pushKV("leaf_hashes", leaves);
        out.push_back(one);
    }
    return out;
}

UniValue ParticipantsJson(const MusigParticipants& participants)
{
    UniValue out(UniValue::VARR);
    for (const auto& [aggregate, keys] : participants) {
        UniValue one(UniValue::VOBJ);
        one.pushKV("aggregate_pubkey", ToHex(aggregate));
        UniValue list(UniValue::VARR);
        for (const CompressedKey& key : keys) list.push_back(ToHex(key));
        one.pushKV("participant_pubkeys", list);
        out.push_back(one);
    }
    return out;
}

template <typename Value>
UniValue SharesJson(const MusigShares<Value>& shares, const char* name)
{
    UniValue out(UniValue::VARR);
    for (const auto& [of, values] : shares) {
        for (const auto& [participant, value] : values) {
            UniValue one(UniValue::VOBJ);
            one.pushKV("participant_pubkey", ToHex(participant));
            one.pushKV("aggregate_pubkey", ToHex(of.first));
            if (of.second) one.pushKV("leaf_hash", ToHex(*of.second));
            one.pushKV(name, ToHex(value));
            out.push_back(one);
        }
    }
    return out;
}

void PushScripts(UniValue& out, const Bytes& redeem_script, const Bytes& witness_script)
{
    if (!redeem_script.empty()) out.pushKV("redeem_script", InnerScriptJson(redeem_script));
    if (!witness_script.empty()) out.pushKV("witness_script", InnerScriptJson(witness_script));
}

void PushSpent(UniValue& out, const PsbtInput& input, const AddressPrefixes& prefixes)
{
    if (input.witness_utxo) {
        UniValue spent(UniValue::VOBJ);
        spent.pushKV("amount", AmountJson(input.witness_utxo->value));
        spent.pushKV("scriptPubKey", ScriptPubKeyJson(input.witness_utxo->script_pubkey, prefixes));
        out.pushKV("witness_utxo", spent);
    }
    if (input.non_witness_utxo) {
        UniValue tx(UniValue::VOBJ);
        TxJsonOptions options;
        options.include_hex = false;
        AppendTxJson(tx, input.non_witness_utxo->View(), prefixes, options);
        out.pushKV("non_witness_utxo", tx);
    }
}

void PushSigning(UniValue& out, const PsbtInput& input)
{
    UniValue signatures(UniValue::VOBJ);
    for (const auto& [hash, one] : input.partial_signatures) {
        signatures.__pushKV(ToHex(one.first), ToHex(one.second));
    }
    PushIfAny(out, "partial_signatures", signatures);
    if (input.sighash_type) {
        out.pushKV("sighash", SigHashName(static_cast<uint8_t>(*input.sighash_type)));
    }
    PushScripts(out, input.redeem_script, input.witness_script);
    PushIfAny(out, "bip32_derivs", KeyOriginsJson(input.key_origins));
    if (!input.final_script_sig.empty()) {
        UniValue script(UniValue::VOBJ);
        script.pushKV("asm", ScriptToAsm(input.final_script_sig, true));
        script.pushKV("hex", ToHex(input.final_script_sig));
        out.pushKV("final_scriptSig", script);
    }
    UniValue witness(UniValue::VARR);
    for (const Bytes& item : input.final_witness) witness.push_back(ToHex(item));
    PushIfAny(out, "final_scriptwitness", witness);
    PushIfAny(out, "ripemd160_preimages", HexPairs(input.ripemd160_preimages));
    PushIfAny(out, "sha256_preimages", HexPairs(input.sha256_preimages));
    PushIfAny(out, "hash160_preimages", HexPairs(input.hash160_preimages));
    PushIfAny(out, "hash256_preimages", HexPairs(input.hash256_preimages));
}

void PushVersion2(UniValue& out, const PsbtInput& input)
{
    out.pushKV("previous_txid", input.prevout.txid.ToHex());
    out.pushKV("previous_vout", Num(input.prevout.vout));
    if (input.sequence) out.pushKV("sequence", Num(*input.sequence));
    if (input.time_lock) out.pushKV("time_locktime", Num(*input.time_lock));
    if (input.height_lock) out.pushKV("height_locktime", Num(*input.height_lock));
}

void PushTaproot(UniValue& out, const PsbtInput& input)
{
    PushHexIfAny(out, "taproot_key_path_sig", input.taproot_signature);
    UniValue signatures(UniValue::VARR);
    for (const auto& [whose, signature] : input.taproot_script_signatures) {
        UniValue one(UniValue::VOBJ);
        one.pushKV("pubkey", ToHex(whose.first));
        one.pushKV("leaf_hash", ToHex(whose.second));
        one.pushKV("sig", ToHex(signature));
        signatures.push_back(one);
    }
    PushIfAny(out, "taproot_script_path_sigs", signatures);
    UniValue scripts(UniValue::VARR);
    for (const auto& [leaf, controls] : input.taproot.scripts) {
        UniValue one(UniValue::VOBJ);
        one.pushKV("script", ToHex(leaf.first));
        one.pushKV("leaf_ver", Num(uint32_t{leaf.second}));
        UniValue blocks(UniValue::VARR);
        for (const Bytes& control : controls) blocks.push_back(ToHex(control));
        one.pushKV("control_blocks", blocks);
        scripts.push_back(one);
    }
    PushIfAny(out, "taproot_scripts", scripts);
    PushIfAny(out, "taproot_bip32_derivs", TapOriginsJson(input.taproot_origins));
    if (const auto& key = input.taproot.internal_key) {
        out.pushKV("taproot_internal_key", ToHex(*key));
    }
    if (const auto& root = input.taproot.merkle_root) {
        out.pushKV("taproot_merkle_root", ToHex(*root));
    }
}

UniValue InputJson(const PsbtInput& input, uint32_t version, const AddressPrefixes& prefixes)
{
    UniValue out(UniValue::VOBJ);
    PushSpent(out, input, prefixes);
    PushSigning(out, input);
    if (version >= kPsbtVersion2) PushVersion2(out, input);
    PushTaproot(out, input);
    PushIfAny(out, "musig2_participant_pubkeys", ParticipantsJson(input.musig_participants));
    PushIfAny(out, "musig2_pubnonces", SharesJson(input.musig_nonces, "pubnonce"));
    PushIfAny(out, "musig2_partial_sigs", SharesJson(input.musig_signatures, "partial_sig"));
    PushIfAny(out, "proprietary", ProprietaryJson(input.proprietary));
    PushIfAny(out, "unknown", HexPairs(input.unknown));
    return out;
}

UniValue OutputJson(const PsbtOutput& output, uint32_t version, const AddressPrefixes& prefixes)
{
    UniValue out(UniValue::VOBJ);
    PushScripts(out, output.redeem_script, output.witness_script);
    PushIfAny(out, "bip32_derivs", KeyOriginsJson(output.key_origins));
    if (version >= kPsbtVersion2) {
        out.pushKV("amount", AmountJson(output.output.value));
        out.pushKV("script", ScriptPubKeyJson(output.output.script_pubkey, prefixes));
    }
    if (const auto& key = output.taproot_internal_key) {
        out.pushKV("taproot_internal_key", ToHex(*key));
    }
    UniValue tree(UniValue::VARR);
    for (const TapLeaf& leaf : output.taproot_leaves) {
        UniValue one(UniValue::VOBJ);
        one.pushKV("depth", Num(uint32_t{leaf.depth}));
        one.pushKV("leaf_ver", Num(uint32_t{leaf.version}));
        one.pushKV("script", ToHex(leaf.script));
        tree.push_back(one);
    }
    PushIfAny(out, "taproot_tree", tree);
    PushIfAny(out, "taproot_bip32_derivs", TapOriginsJson(output.taproot_origins));
    PushIfAny(out, "musig2_participant_pubkeys", ParticipantsJson(output.musig_participants));
    PushIfAny(out, "proprietary", ProprietaryJson(output.proprietary));
    PushIfAny(out, "unknown", HexPairs(output.unknown));
    return out;
}

UniValue XpubsJson(const Psbt& psbt)
{
    UniValue out(UniValue::VARR);
    for (const auto& [origin, xpubs] : psbt.xpubs) {
        for (const SerializedXpub& xpub : xpubs) {
            UniValue one(UniValue::VOBJ);
            one.pushKV("xpub", EncodeBase58Check(xpub));
            PushOrigin(one, origin);
            out.push_back(one);
        }
    }
    return out;
}

void PushVersion2(UniValue& out, const Psbt& psbt)
{
    out.pushKV("tx_version", Num(psbt.tx_version));
    if (psbt.fallback_lock_time) out.pushKV("fallback_locktime", Num(*psbt.fallback_lock_time));
    out.pushKV("input_count", Num(psbt.inputs.size()));
    out.pushKV("output_count", Num(psbt.outputs.size()));
    if (!psbt.modifiable) return;
    out.pushKV("inputs_modifiable", Bool((*psbt.modifiable & Psbt::kInputsModifiable) != 0));
    out.pushKV("outputs_modifiable", Bool((*psbt.modifiable & Psbt::kOutputsModifiable) != 0));
    out.pushKV("has_sighash_single", Bool((*psbt.modifiable & Psbt::kHasSighashSingle) != 0));
}

/** Nothing: a spent output is unknown, or amounts are out of range. */
std::optional<Amount> Fee(const Psbt& psbt)
{
    Amount total_in = 0, total_out = 0;
    const auto add = [](Amount& total, Amount amount) {
        if (!MoneyRange(amount) || !MoneyRange(total + amount)) return false;
        total += amount;
        return true;
    };
    for (const PsbtInput& input : psbt.inputs) {
        const auto spent = input.Spent();
        if (!spent || !add(total_in, spent->value)) return std::nullopt;
    }
    for (const PsbtOutput& output : psbt.outputs) {
        if (!add(total_out, output.output.value)) return std::nullopt;
    }
    return total_in - total_out;
}

UniValue MissingJson(const SpendData& data)
{
    const auto hashes = [](const std::vector<Hash20>& list) {
        UniValue out(UniValue::VARR);
        for (const Hash20& hash : list) out.push_back(ToHex(hash));
        return out;
    };
    UniValue out(UniValue::VOBJ);
    PushIfAny(out, "pubkeys", hashes(data.missing_keys));
    if (const auto& hash = data.missing_redeem_script) out.pushKV("redeemscript", ToHex(*hash));
    if (const auto& hash = data.missing_witness_script) out.pushKV("witnessscript", ToHex(*hash));
    PushIfAny(out, "signatures", hashes(data.missing_signatures));
    return out;
}

} // namespace

Psbt ParsePsbt(const UniValue& base64)
{
    const auto bytes = FromBase64(ParseString(base64));
    auto psbt = bytes ? DecodePsbt(*bytes) : Result<Psbt>(BadData("invalid base64"));
    if (!psbt) ThrowRpc(RpcCode::kDeserialization, "TX decode failed {}", psbt.Message());
    return std::move(psbt).Value();
}

RpcArg PsbtArg()
{
    return WithCliForm({"psbt", RpcType::kString, true, "", "The PSBT, base64"},
                       CliForm::kFreeText);
}

std::string PsbtText(const Psbt& psbt) { return ToBase64(EncodePsbt(psbt)); }

UniValue PsbtJson(const Psbt& psbt, const AddressPrefixes& prefixes)
{
    UniValue out(UniValue::VOBJ);
    if (psbt.version < kPsbtVersion2) {
        UniValue tx(UniValue::VOBJ);
        TxJsonOptions options;
        options.include_hex = false;
        AppendTxJson(tx, psbt.UnsignedTx().value().Freeze()->View(), prefixes, options);
        out.pushKV("tx", tx);
    }
    out.pushKV("global_xpubs", XpubsJson(psbt));
    if (psbt.version >= kPsbtVersion2) PushVersion2(out, psbt);
    out.pushKV("psbt_version", Num(psbt.version));
    out.pushKV("proprietary", ProprietaryJson(psbt.proprietary));
    out.pushKV("unknown", HexPairs(psbt.unknown));
    UniValue inputs(UniValue::VARR);
    for (const PsbtInput& input : psbt.inputs) {
        inputs.push_back(InputJson(input, psbt.version, prefixes));
    }
    out.pushKV("inputs", inputs);
    UniValue outputs(UniValue::VARR);
    for (const PsbtOutput& output : psbt.outputs) {
        outputs.push_back(OutputJson(output, psbt.version, prefixes));
    }
    out.pushKV("outputs", outputs);
    if (const auto fee = Fee(psbt)) out.pushKV("fee", AmountJson(*fee));
    return out;
}

UniValue PsbtAnalysisJson(const PsbtAnalysis& analysis)
{
    UniValue inputs(UniValue::VARR);
    for (const PsbtInputAnalysis& input : analysis.inputs) {
        UniValue one(UniValue::VOBJ);
        one.pushKV("has_utxo", Bool(input.has_output));
        one.pushKV("is_final", Bool(input.is_final));
        one.pushKV("next", PsbtRoleName(input.next));
        PushIfAny(one, "missing", MissingJson(input.missing));
        inputs.push_back(one);
    }
    UniValue out(UniValue::VOBJ);
    PushIfAny(out, "inputs", inputs);
    if (analysis.estimated_vsize) out.pushKV("estimated_vsize", Num(*analysis.estimated_vsize));
    if (analysis.estimated_fee_rate) {
        out.pushKV("estimated_feerate", AmountJson(*analysis.estimated_fee_rate));
    }
    if (analysis.fee) out.pushKV("fee", AmountJson(*analysis.fee));
    out.pushKV("next", PsbtRoleName(analysis.next));
    if (!analysis.error.empty()) out.pushKV("error", analysis.error);
    return out;
}

} // namespace ibd
