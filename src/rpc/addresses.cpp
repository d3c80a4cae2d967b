// validateaddress and createmultisig; see util_calls.h.
#include "crypto/ripemd160.h"
#include "crypto/secp256k1.h"
#include "jsonrpc/json.h"
#include "keys/address_fault.h"
#include "keys/descriptor.h"
#include "rpc/util_calls.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

/** Adds the fields that describe the kind of an address's script. */
void Describe(UniValue& out, ByteSpan script)
{
    const ScriptTemplate shape = ClassifyScript(script);
    const bool to_key =
        shape.kind == ScriptKind::kPubkeyHash || shape.kind == ScriptKind::kWitnessV0KeyHash;
    const bool witness =
        shape.kind != ScriptKind::kPubkeyHash && shape.kind != ScriptKind::kScriptHash;
    if (shape.kind != ScriptKind::kWitnessUnknown) out.pushKV("isscript", Bool(!to_key));
    out.pushKV("iswitness", Bool(witness));
    if (!witness || shape.kind == ScriptKind::kAnchor) return;
    out.pushKV("witness_version", shape.version);
    out.pushKV("witness_program", ToHex(shape.parts[0]));
}

UniValue ValidateAddress(const ChainContext& context, const RpcCall& call)
{
    const AddressPrefixes prefixes = context.Prefixes();
    const auto script = DecodeAddress(call.String(0), prefixes);
    UniValue out(UniValue::VOBJ);
    out.pushKV("isvalid", Bool(script.has_value()));
    if (script) {
        out.pushKV("address", *EncodeAddress(*script, prefixes));
        out.pushKV("scriptPubKey", ToHex(*script));
        Describe(out, *script);
        return out;
    }
    const AddressFault fault = FindAddressFault(call.String(0), prefixes);
    UniValue places(UniValue::VARR);
    for (const int place : fault.places) places.push_back(place);
    out.pushKV("error_locations", places);
    out.pushKV("error", fault.text);
    return out;
}

Bytes ParsePublicKey(const std::string& text)
{
    const auto key = FromHex(text);
    if (!key || text.empty()) {
        ThrowRpc(RpcCode::kInvalidAddressOrKey, "Pubkey \"{}\" must be a hex string", text);
    }
    if (key->size() != std::tuple_size_v<CompressedKey> &&
        key->size() != std::tuple_size_v<UncompressedKey>) {
        ThrowRpc(RpcCode::kInvalidAddressOrKey,
                 "Pubkey \"{}\" must have a length of either 33 or 65 bytes", text);
    }
    if (!IsValidPublicKey(*key)) {
        ThrowRpc(RpcCode::kInvalidAddressOrKey, "Pubkey \"{}\" must be cryptographically valid.",
                 text);
    }
    return *key;
}

enum class MultisigForm { kLegacy, kWitnessInScriptHash, kWitness };

MultisigForm ParseForm(const std::string& type)
{
    if (type == "legacy") return MultisigForm::kLegacy;
    if (type == "p2sh-segwit") return MultisigForm::kWitnessInScriptHash;
    if (type == "bech32") return MultisigForm::kWitness;
    if (type == "bech32m") {
        throw RpcError{RpcCode::kInvalidAddressOrKey,
                       "createmultisig cannot create bech32m multisig addresses"};
    }
    ThrowRpc(RpcCode::kInvalidAddressOrKey, "Unknown address type '{}'", type);
}

void CheckCounts(int required, size_t keys)
{
    if (required < 1) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "a multisignature address must require at least one key to redeem"};
    }
    if (keys < static_cast<size_t>(required)) {
        ThrowRpc(RpcCode::kInvalidParameter,
                 "not enough keys supplied (got {} keys, but need at least {} to redeem)", keys,
                 required);
    }
    if (keys > kMaxPubkeysPerMultisig) {
        ThrowRpc(RpcCode::kInvalidParameter,
                 "Number of keys involved in the multisignature address creation > {}\n"
                 "Reduce the number",
                 kMaxPubkeysPerMultisig);
    }
}

Bytes MultisigScript(int required, const std::vector<Bytes>& keys)
{
    Bytes out;
    AppendPushInt(out, required);
    for (const Bytes& key : keys) AppendPush(out, key);
    AppendPushInt(out, static_cast<int64_t>(keys.size()));
    out.push_back(OP_CHECKMULTISIG);
    return out;
}

/** The output script, and its descriptor; `text` is the descriptor of `inner`. */
std::pair<Bytes, std::string> Wrap(const Bytes& inner, std::string text, MultisigForm form)
{
    Bytes script = inner;
    if (form != MultisigForm::kLegacy) {
        script = WitnessProgramScript(0, Sha256Of(inner));
        text = "wsh(" + text + ")";
    }
    if (form != MultisigForm::kWitness) {
        script = ScriptHashScript(Hash160(script));
        text = "sh(" + text + ")";
    }
    return {script, text};
}

UniValue CreateMultisig(const ChainContext& context, const RpcCall& call)
{
    const int required = call.Int32(0);
    std::vector<Bytes> keys;
    for (const UniValue& key : call.At(1).getValues()) {
        keys.push_back(ParsePublicKey(ParseString(key)));
    }
    const MultisigForm wanted = ParseForm(call.String(2, "legacy"));
    CheckCounts(required, keys.size());
    const Bytes inner = MultisigScript(required, keys);
    const bool compressed = std::all_of(keys.begin(), keys.end(), [](const Bytes& key) {
        return key.size() == std::tuple_size_v<CompressedKey>;
    });
    // Witness scripts allow only compressed keys.
    const MultisigForm form = compressed ? wanted : MultisigForm::kLegacy;
    if (form == MultisigForm::kLegacy && inner.size() > kMaxScriptElementSize) {
        ThrowRpc(RpcCode::kInvalidParameter, "redeemScript exceeds size limit: {} > {}",
                 inner.size(), kMaxScriptElementSize);
    }
    std::string text = "multi(" + std::to_string(required);
    for (const Bytes& key : keys) text += "," + ToHex(key);
    const auto [script, descriptor] = Wrap(inner, text + ")", form);
    UniValue out(UniValue::VOBJ);
    out.pushKV("address", *EncodeAddress(script, context.Prefixes()));
    out.pushKV("redeemScript", ToHex(inner));
    out.pushKV("descriptor", descriptor + "#" + DescriptorChecksum(descriptor));
    if (form != wanted) {
        UniValue warnings(UniValue::VARR);
        warnings.push_back("Unable to make chosen address type, please ensure no uncompressed "
                           "public keys are present.");
        out.pushKV("warnings", warnings);
    }
    return out;
}

} // namespace

void AddAddressMethods(RpcTable& table, ChainContext& context)
{
    table.Add({"util",
               "validateaddress",
               "Return information about the given bitcoin address.",
               {{"address", RpcType::kString, true, "", "The text"}},
               "{\n"
               "  \"isvalid\": bool,               (boolean) Whether the text is an address of "
               "this network\n"
               "  \"address\": \"str\",              (string) The address in its usual form\n"
               "  \"scriptPubKey\": \"hex\",         (string) Script of outputs that pay it\n"
               "  \"isscript\": bool,              (boolean) Whether it stands for a script (P2SH, "
               "P2WSH, P2TR)\n"
               "  \"iswitness\": bool,             (boolean) Whether it is a witness program\n"
               "  \"witness_version\": n,          (numeric) Version of the witness program\n"
               "  \"witness_program\": \"hex\",      (string) The witness program\n"
               "  \"error\": \"str\",                (string) Why it is invalid\n"
               "  \"error_locations\": [ n, ... ]  (json array) Places of wrong characters, from "
               "0, if known\n"
               "}",
               "\"bc1q09vm5lfy0j5reeulh4x5752q25uqqvz34hufdl\"",
               [&context](const RpcCall& call) { return ValidateAddress(context, call); }});
    table.Add({"util",
               "createmultisig",
               "Makes an address from which a given number of a set of keys can spend.",
               {{"nrequired", RpcType::kNumber, true, "", "Number of signatures that are required"},
                {"keys",
                 RpcType::kArray,
                 true,
                 "",
                 "Public keys",
                 {{"key", RpcType::kHex, false, "", "One of them"}}},
                {"address_type", RpcType::kString, false, "legacy",
                 "\"legacy\", \"p2sh-segwit\" or \"bech32\""}},
               "{\n  \"address\": \"str\", \"redeemScript\": \"hex\", \"descriptor\": \"str\",\n"
               "  \"warnings\": [ \"str\", ... ]    (json array) Present if the address is not of "
               "the requested type\n}",
               "2 '[\"03789ed0bb717d88f7d321a368d905e7430207ebbd82bd342cf11ae157a7ace5fd\",\"03dbc6"
               "764b8884a92e871274b87583e6d5c2a58819473e17e107ef3f6aa5a61626\"]'",
               [&context](const RpcCall& call) { return CreateMultisig(context, call); }});
    table.AnswerEarly({"validateaddress", "createmultisig"});
}

} // namespace ibd
