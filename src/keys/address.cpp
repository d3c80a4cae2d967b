// See address.h.
#include "keys/address.h"
#include "keys/base58.h"
#include "keys/bech32.h"

namespace ibd {

namespace {

constexpr size_t kHashSize = 20;

std::string EncodeHash(uint8_t prefix, ByteSpan hash)
{
    Bytes payload{prefix};
    Append(payload, hash);
    return EncodeBase58Check(payload);
}

std::string EncodeWitness(int version, ByteSpan program, const std::string& prefix)
{
    Bytes digits{static_cast<uint8_t>(version)};
    Append(digits, *RegroupBits(program, 8, 5, /*pad=*/true));
    return EncodeBech32(version == 0 ? Bech32Kind::kBech32 : Bech32Kind::kBech32m, prefix, digits);
}

std::optional<Bytes> DecodeWitness(const Bech32Text& text)
{
    if (text.digits.empty() || text.digits[0] > 16) return std::nullopt;
    const int version = text.digits[0];
    if ((version == 0) != (text.kind == Bech32Kind::kBech32)) return std::nullopt;
    const auto program = RegroupBits(ByteSpan(text.digits).subspan(1), 5, 8, /*pad=*/false);
    if (!program || program->size() < 2 || program->size() > 40) return std::nullopt;
    if (version == 0 && program->size() != 20 && program->size() != 32) return std::nullopt;
    return WitnessProgramScript(version, *program);
}

} // namespace

std::optional<std::string> EncodeAddress(ByteSpan script, const AddressPrefixes& prefixes)
{
    const ScriptTemplate shape = ClassifyScript(script);
    switch (shape.kind) {
    case ScriptKind::kPubkeyHash: return EncodeHash(prefixes.pubkey_hash, shape.parts[0]);
    case ScriptKind::kScriptHash: return EncodeHash(prefixes.script_hash, shape.parts[0]);
    case ScriptKind::kWitnessV0KeyHash:
    case ScriptKind::kWitnessV0ScriptHash:
    case ScriptKind::kTaproot:
    case ScriptKind::kAnchor:
    case ScriptKind::kWitnessUnknown:
        return EncodeWitness(shape.version, shape.parts[0], prefixes.bech32);
    case ScriptKind::kNonStandard:
    case ScriptKind::kPubkey:
    case ScriptKind::kMultisig:
    case ScriptKind::kNullData: return std::nullopt;
    }
    return std::nullopt;
}

std::optional<Bytes> DecodeAddress(std::string_view address, const AddressPrefixes& prefixes)
{
    if (const auto text = DecodeBech32(address)) {
        if (text->prefix == prefixes.bech32) return DecodeWitness(*text);
    }
    const auto payload = DecodeBase58Check(address, kHashSize + 1);
    if (!payload || payload->size() != kHashSize + 1) return std::nullopt;
    const ByteSpan hash = ByteSpan(*payload).subspan(1);
    if ((*payload)[0] == prefixes.pubkey_hash) return PubkeyHashScript(hash);
    if ((*payload)[0] == prefixes.script_hash) return ScriptHashScript(hash);
    return std::nullopt;
}

} // namespace ibd
