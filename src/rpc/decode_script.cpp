// decodescript; see util_calls.h.
#include "crypto/ripemd160.h"
#include "crypto/secp256k1.h"
#include "jsonrpc/json.h"
#include "keys/asm.h"
#include "keys/descriptor.h"
#include "keys/miniscript/text.h"
#include "rpc/tx_json.h"
#include "rpc/util_calls.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

/** Whether all operations are defined, complete, and unchanged by later versions. */
bool HasPlainOps(ByteSpan script)
{
    ScriptIterator it(script);
    while (it.Next()) {
        if (it.Op() > kMaxOpcode || it.Data().size() > kMaxScriptElementSize) return false;
        if (it.Op() == OP_CHECKSIGADD || IsOpSuccess(it.Op())) return false;
    }
    return !it.Failed();
}

/** Whether a script of that kind may be inside a script hash. */
bool CanWrap(ScriptKind kind, ByteSpan script)
{
    switch (kind) {
    case ScriptKind::kMultisig:
    case ScriptKind::kNonStandard:
    case ScriptKind::kPubkey:
    case ScriptKind::kPubkeyHash:
    case ScriptKind::kWitnessV0KeyHash:
    case ScriptKind::kWitnessV0ScriptHash: return HasPlainOps(script) && !IsUnspendable(script);
    default: return false;
    }
}

/** Whether the script, or the script that it commits to, may be used in a witness. */
bool CanWrapInWitness(const ScriptTemplate& shape)
{
    switch (shape.kind) {
    case ScriptKind::kMultisig:
    case ScriptKind::kPubkey:
        return std::all_of(shape.parts.begin(), shape.parts.end(), [](ByteSpan key) {
            return key.size() == std::tuple_size_v<CompressedKey>;
        });
    case ScriptKind::kNonStandard:
    case ScriptKind::kPubkeyHash: return true;
    default: return false;
    }
}

/** The witness program with the same spending conditions. */
Bytes WitnessForm(const ScriptTemplate& shape, ByteSpan script)
{
    if (shape.kind == ScriptKind::kPubkey) {
        return WitnessProgramScript(0, Hash160(shape.parts[0]));
    }
    if (shape.kind == ScriptKind::kPubkeyHash) return WitnessProgramScript(0, shape.parts[0]);
    return WitnessProgramScript(0, Sha256Of(script));
}

/** Descriptor of the witness form, whose inner script is known. */
std::string WitnessDescriptor(const ScriptTemplate& shape, ByteSpan script, ByteSpan form,
                              const AddressPrefixes& prefixes)
{
    std::optional<std::string> inner;
    if (shape.kind == ScriptKind::kMultisig) {
        const std::string known = InferDescriptor(script, prefixes);
        if (known.starts_with("multi(")) inner = known.substr(0, known.find('#'));
    } else if (shape.kind == ScriptKind::kNonStandard) {
        inner = miniscript::TextOf(script);
    }
    if (!inner) return InferDescriptor(form, prefixes);
    const std::string text = "wsh(" + *inner + ")";
    return text + "#" + DescriptorChecksum(text);
}

UniValue DecodeScript(const ChainContext& context, const RpcCall& call)
{
    Bytes script;
    if (!call.String(0).empty()) script = ParseHexArgument(call.At(0), "argument");
    const AddressPrefixes prefixes = context.Prefixes();
    const UniValue described = ScriptPubKeyJson(script, prefixes);
    UniValue out(UniValue::VOBJ);
    for (const char* name : {"asm", "desc", "address", "type"}) {
        if (described.exists(name)) out.pushKV(name, described[name]);
    }
    const ScriptTemplate shape = ClassifyScript(script);
    if (!CanWrap(shape.kind, script)) return out;
    out.pushKV("p2sh", *EncodeAddress(ScriptHashScript(Hash160(script)), prefixes));
    if (!CanWrapInWitness(shape)) return out;
    const Bytes form = WitnessForm(shape, script);
    const UniValue plain = ScriptPubKeyJson(form, prefixes);
    UniValue witness(UniValue::VOBJ);
    for (size_t i = 0; i < plain.size(); ++i) {
        const std::string& name = plain.getKeys()[i];
        witness.pushKV(name, name == "desc"
                                 ? UniValue(WitnessDescriptor(shape, script, form, prefixes))
                                 : plain.getValues()[i]);
    }
    witness.pushKV("p2sh-segwit", *EncodeAddress(ScriptHashScript(Hash160(form)), prefixes));
    out.pushKV("segwit", witness);
    return out;
}

} // namespace

void AddDecodeScriptMethod(RpcTable& table, ChainContext& context)
{
    table.Add(
        {"rawtransactions",
         "decodescript",
         "Decodes a script into text, and shows the addresses of scripts that wrap it.",
         {{"hexstring", RpcType::kHex, true, "", "The script"}},
         "{\n  \"asm\": \"str\", \"desc\": \"str\", \"type\": \"str\", \"address\": \"str\",\n"
         "  \"p2sh\": \"str\",            (string) Address of its script hash\n"
         "  \"segwit\": { \"asm\", \"desc\", \"hex\", \"address\", \"type\", \"p2sh-segwit\" }\n"
         "                            (json object) Its form as a witness program\n}",
         "\"hexstring\"",
         [&context](const RpcCall& call) { return DecodeScript(context, call); }});
    table.AnswerEarly({"decodescript"});
}

} // namespace ibd
