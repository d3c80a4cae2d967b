// See standard.h.
#include "script/standard.h"

namespace ibd {

namespace {

constexpr size_t kCompressed = 33;
constexpr size_t kUncompressed = 65;

/** One push of a key, then OP_CHECKSIG. */
bool MatchPubkey(ByteSpan script, ScriptTemplate& out)
{
    for (const size_t size : {kCompressed, kUncompressed}) {
        if (script.size() != size + 2 || script[0] != size || script.back() != OP_CHECKSIG)
            continue;
        const ByteSpan key = script.subspan(1, size);
        if (!HasPubkeyShape(key)) return false;
        out.parts = {key};
        return true;
    }
    return false;
}

bool MatchPubkeyHash(ByteSpan s, ScriptTemplate& out)
{
    if (s.size() != 25 || s[0] != OP_DUP || s[1] != OP_HASH160 || s[2] != 20 ||
        s[23] != OP_EQUALVERIFY || s[24] != OP_CHECKSIG) {
        return false;
    }
    out.parts = {s.subspan(3, 20)};
    return true;
}

/** A number from 0 to 20 in a multisig script: an opcode, or one minimally pushed byte. */
std::optional<int> MultisigNumber(const ScriptIterator& it)
{
    if (const auto small = SmallInt(it.Op())) return small;
    if (it.Op() > OP_PUSHDATA4 || !IsMinimalPush(it.Op(), it.Data())) return std::nullopt;
    const auto number = DecodeScriptNum(it.Data(), /*require_minimal=*/true);
    if (!number || *number < 1 || *number > kMaxPubkeysPerMultisig) return std::nullopt;
    return static_cast<int>(*number);
}

bool MatchMultisig(ByteSpan script, ScriptTemplate& out)
{
    if (script.empty() || script.back() != OP_CHECKMULTISIG) return false;
    ScriptIterator it(script);
    if (!it.Next()) return false;
    const auto required = MultisigNumber(it);
    if (!required || *required < 1) return false;
    std::vector<ByteSpan> keys;
    while (it.Next() && HasPubkeyShape(it.Data())) keys.push_back(it.Data());
    if (it.Failed()) return false;
    const auto total = MultisigNumber(it);
    if (!total || static_cast<size_t>(*total) != keys.size() || *total < *required) return false;
    if (it.End() + 1 != script.size()) return false;
    out.required = *required;
    out.parts = std::move(keys);
    return true;
}

void MatchWitness(const WitnessProgram& witness, ScriptTemplate& out)
{
    out.version = witness.version;
    out.parts = {witness.program};
    const size_t size = witness.program.size();
    if (witness.version == 0) {
        if (size == 20)
            out.kind = ScriptKind::kWitnessV0KeyHash;
        else if (size == 32)
            out.kind = ScriptKind::kWitnessV0ScriptHash;
        else
            out = ScriptTemplate{};
    } else if (witness.version == 1 && size == 32) {
        out.kind = ScriptKind::kTaproot;
    } else {
        out.kind = ScriptKind::kWitnessUnknown;
    }
}

} // namespace

bool HasPubkeyShape(ByteSpan key)
{
    if (key.size() == kCompressed) return key[0] == 2 || key[0] == 3;
    return key.size() == kUncompressed && (key[0] == 4 || key[0] == 6 || key[0] == 7);
}

ScriptTemplate ClassifyScript(ByteSpan script)
{
    ScriptTemplate out;
    if (IsPayToScriptHash(script)) {
        out.kind = ScriptKind::kScriptHash;
        out.parts = {script.subspan(2, 20)};
    } else if (const auto witness = ParseWitnessProgram(script)) {
        MatchWitness(*witness, out);
        if (IsPayToAnchor(script)) out.kind = ScriptKind::kAnchor;
    } else if (!script.empty() && script[0] == OP_RETURN && IsPushOnly(script.subspan(1))) {
        out.kind = ScriptKind::kNullData;
    } else if (MatchPubkey(script, out)) {
        out.kind = ScriptKind::kPubkey;
    } else if (MatchPubkeyHash(script, out)) {
        out.kind = ScriptKind::kPubkeyHash;
    } else if (MatchMultisig(script, out)) {
        out.kind = ScriptKind::kMultisig;
    }
    return out;
}

const char* ScriptKindName(ScriptKind kind)
{
    switch (kind) {
    case ScriptKind::kNonStandard: return "nonstandard";
    case ScriptKind::kPubkey: return "pubkey";
    case ScriptKind::kPubkeyHash: return "pubkeyhash";
    case ScriptKind::kScriptHash: return "scripthash";
    case ScriptKind::kMultisig: return "multisig";
    case ScriptKind::kNullData: return "nulldata";
    case ScriptKind::kWitnessV0KeyHash: return "witness_v0_keyhash";
    case ScriptKind::kWitnessV0ScriptHash: return "witness_v0_scripthash";
    case ScriptKind::kTaproot: return "witness_v1_taproot";
    case ScriptKind::kAnchor: return "anchor";
    case ScriptKind::kWitnessUnknown: return "witness_unknown";
    }
    return "nonstandard";
}

Bytes PubkeyHashScript(ByteSpan hash)
{
    Bytes script;
    script.reserve(25); // one allocation, as this runs for every spend of a P2WPKH output
    script = {OP_DUP, OP_HASH160};
    AppendPush(script, hash);
    script.push_back(OP_EQUALVERIFY);
    script.push_back(OP_CHECKSIG);
    return script;
}

Bytes ScriptHashScript(ByteSpan hash)
{
    Bytes script{OP_HASH160};
    AppendPush(script, hash);
    script.push_back(OP_EQUAL);
    return script;
}

Bytes WitnessProgramScript(int version, ByteSpan program)
{
    Bytes script{static_cast<uint8_t>(version == 0 ? OP_0 : OP_1 + version - 1)};
    AppendPush(script, program);
    return script;
}

} // namespace ibd
