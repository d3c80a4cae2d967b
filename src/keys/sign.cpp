// See sign.h. This file: from keys and scripts to the contents of an input.
#include "keys/sign.h"

#include "primitives/serialize.h"

#include <algorithm>

namespace ibd {

namespace {

Bytes PushAll(const std::vector<Bytes>& values)
{
    Bytes script;
    for (const Bytes& value : values) {
        const bool small = value.size() == 1 && value[0] >= 1 && value[0] <= 16;
        if (small || value.empty()) {
            AppendPushInt(script, value.empty() ? 0 : value[0]);
        } else if (value.size() == 1 && value[0] == 0x81) {
            AppendPushInt(script, -1);
        } else {
            AppendPush(script, value);
        }
    }
    return script;
}

Bytes WitnessItems(const std::vector<Bytes>& witness)
{
    Bytes out;
    Writer writer(out);
    for (const Bytes& item : witness) writer.VarBytes(item);
    return out;
}

Hash20 AsHash20(ByteSpan bytes)
{
    Hash20 out;
    std::copy_n(bytes.begin(), out.size(), out.begin());
    return out;
}

template <typename Hash>
std::optional<Bytes> FindIn(const std::map<Hash, Bytes>& preimages, ByteSpan hash)
{
    Hash wanted;
    std::copy_n(hash.begin(), wanted.size(), wanted.begin());
    const auto it = preimages.find(wanted);
    return it == preimages.end() ? std::nullopt : std::optional(it->second);
}

/** The steps of one Solve(); each turns a script into the stack items that satisfy it. */
class Steps {
public:
    Steps(const KeyRing& keys, const SignatureMaker& maker, SpendData& data)
        : m_keys(keys), m_maker(maker), m_data(data)
    {
    }

    /** Solves a script. For a script hash or a witness program of version 0, the only stack item is
     *  the script or key hash that the next step solves. */
    bool Run(ByteSpan script, SigVersion version, ScriptKind& kind, std::vector<Bytes>& stack);
    /** Solves a witness script that is a miniscript. */
    bool RunMiniscript(ByteSpan script, std::vector<Bytes>& stack);

    std::optional<Bytes> Sign(ByteSpan key, ByteSpan script_code, SigVersion version);
    const SignatureMaker& Maker() const { return m_maker; }
    const SpendData& Data() const { return m_data; }

private:
    std::optional<Bytes> FindScript(const Hash20& hash) const;
    /** Notes a missing key. */
    std::optional<Bytes> FindKey(const Hash20& hash);
    bool ToKey(ByteSpan key, ByteSpan script, SigVersion version, std::vector<Bytes>& stack);
    bool ToKeyHash(ByteSpan hash, ByteSpan script, SigVersion version, std::vector<Bytes>& stack);
    bool ToMultisig(const ScriptTemplate& shape, ByteSpan script, SigVersion version,
                    std::vector<Bytes>& stack);
    bool ToScriptHash(ByteSpan hash, std::vector<Bytes>& stack);
    bool ToWitnessScriptHash(ByteSpan hash, std::vector<Bytes>& stack);
    bool ToTaproot(ByteSpan key, std::vector<Bytes>& stack);

    const KeyRing& m_keys;
    const SignatureMaker& m_maker;
    SpendData& m_data;
};

std::optional<Bytes> Steps::FindScript(const Hash20& hash) const
{
    const auto it = m_keys.scripts.find(hash);
    if (it != m_keys.scripts.end()) return it->second;
    for (const Bytes* known : {&m_data.redeem_script, &m_data.witness_script}) {
        if (Hash160(*known) == hash) return *known;
    }
    return std::nullopt;
}

std::optional<Bytes> Steps::FindKey(const Hash20& hash)
{
    const Bytes* const key = m_data.FindPublicKey(m_keys, hash);
    if (key == nullptr) m_data.missing_keys.push_back(hash);
    return key != nullptr ? std::optional(*key) : std::nullopt;
}

std::optional<Bytes> Steps::Sign(ByteSpan key, ByteSpan script_code, SigVersion version)
{
    const Hash20 hash = Hash160(key);
    const auto known = m_data.signatures.find(hash);
    if (known != m_data.signatures.end()) return known->second.second;
    if (const auto it = m_keys.origins.find(hash); it != m_keys.origins.end()) {
        m_data.origins.emplace(hash, KeyWithOrigin{{key.begin(), key.end()}, it->second});
    }
    auto signature = m_maker.Ecdsa(hash, script_code, version);
    if (signature) {
        m_data.signatures[hash] = {Bytes(key.begin(), key.end()), *signature};
    } else {
        m_data.missing_signatures.push_back(hash);
    }
    return signature;
}

bool Steps::ToKey(ByteSpan key, ByteSpan script, SigVersion version, std::vector<Bytes>& stack)
{
    auto signature = Sign(key, script, version);
    if (signature) stack.push_back(std::move(*signature));
    return signature.has_value();
}

bool Steps::ToKeyHash(ByteSpan hash, ByteSpan script, SigVersion version, std::vector<Bytes>& stack)
{
    auto key = FindKey(AsHash20(hash));
    if (!key) return false;
    if (!ToKey(*key, script, version, stack)) return false;
    stack.push_back(std::move(*key));
    return true;
}

// Signs with all keys, also beyond the threshold, so that signers can combine signatures.
bool Steps::ToMultisig(const ScriptTemplate& shape, ByteSpan script, SigVersion version,
                       std::vector<Bytes>& stack)
{
    const auto wanted = static_cast<size_t>(shape.required) + 1;
    stack.emplace_back(); // CHECKMULTISIG consumes one extra item
    for (const ByteSpan key : shape.parts) {
        auto signature = Sign(key, script, version);
        if (signature && stack.size() < wanted) stack.push_back(std::move(*signature));
    }
    const size_t missing = wanted - stack.size();
    stack.resize(wanted - missing / 2); // as in Core, an empty item for every other missing one
    return missing == 0;
}

bool Steps::ToScriptHash(ByteSpan hash, std::vector<Bytes>& stack)
{
    auto script = FindScript(AsHash20(hash));
    if (!script) {
        m_data.missing_redeem_script = AsHash20(hash);
        return false;
    }
    stack.push_back(std::move(*script));
    return true;
}

bool Steps::ToWitnessScriptHash(ByteSpan hash, std::vector<Bytes>& stack)
{
    // The ring's Hash160 is the Ripemd160 of this SHA-256.
    auto script = FindScript(Ripemd160Of(hash));
    if (!script) {
        Hash32 missing;
        std::copy(hash.begin(), hash.end(), missing.begin());
        m_data.missing_witness_script = missing;
        return false;
    }
    stack.push_back(std::move(*script));
    return true;
}

bool Steps::ToTaproot(ByteSpan key, std::vector<Bytes>& stack)
{
    XOnlyKey output;
    std::copy(key.begin(), key.end(), output.begin());
    auto witness = SolveTaproot(output, m_keys, m_maker, m_data);
    if (witness) stack = std::move(*witness);
    return witness.has_value();
}

bool Steps::Run(ByteSpan script, SigVersion version, ScriptKind& kind, std::vector<Bytes>& stack)
{
    const ScriptTemplate shape = ClassifyScript(script);
    kind = shape.kind;
    stack.clear();
    switch (kind) {
    case ScriptKind::kPubkey: return ToKey(shape.parts[0], script, version, stack);
    case ScriptKind::kPubkeyHash: return ToKeyHash(shape.parts[0], script, version, stack);
    case ScriptKind::kMultisig: return ToMultisig(shape, script, version, stack);
    case ScriptKind::kScriptHash: return ToScriptHash(shape.parts[0], stack);
    case ScriptKind::kWitnessV0KeyHash:
        stack.emplace_back(shape.parts[0].begin(), shape.parts[0].end());
        return true;
    case ScriptKind::kWitnessV0ScriptHash: return ToWitnessScriptHash(shape.parts[0], stack);
    case ScriptKind::kTaproot: return ToTaproot(shape.parts[0], stack);
    case ScriptKind::kAnchor: return true;
    case ScriptKind::kNonStandard:
    case ScriptKind::kNullData:
    case ScriptKind::kWitnessUnknown: return false;
    }
    return false;
}

/** Answers the questions of a miniscript in a witness script. */
class WshSource final : public InputSource {
public:
    WshSource(Steps& steps, ByteSpan script)
        : InputSource(steps.Maker(), steps.Data()), m_steps(steps), m_script(script)
    {
    }
    std::optional<Bytes> Sign(ByteSpan key) override
    {
        return m_steps.Sign(key, m_script, SigVersion::kWitnessV0);
    }

private:
    Steps& m_steps;
    const ByteSpan m_script;
};

bool Steps::RunMiniscript(ByteSpan script, std::vector<Bytes>& stack)
{
    const auto find_key = [&](const Hash20& hash) { return FindKey(hash); };
    const auto found = FromScript(script, miniscript::Context::kWsh, find_key);
    if (!found) return false; // as in Core, it may be insane
    WshSource source(*this, script);
    auto items = Satisfy(*found, source);
    if (items) stack = std::move(*items);
    return items.has_value();
}

bool IsWrapping(ScriptKind kind)
{
    return kind == ScriptKind::kScriptHash || kind == ScriptKind::kWitnessV0KeyHash ||
           kind == ScriptKind::kWitnessV0ScriptHash;
}

} // namespace

std::optional<Bytes> Preimages::Find(miniscript::Fragment function, ByteSpan hash) const
{
    switch (function) {
    case miniscript::Fragment::kRipemd160: return FindIn(ripemd160, hash);
    case miniscript::Fragment::kSha256: return FindIn(sha256, hash);
    case miniscript::Fragment::kHash160: return FindIn(hash160, hash);
    default: return FindIn(hash256, hash);
    }
}

bool InputSource::IsOlder(uint32_t lock) const { return m_maker.Checker().CheckSequence(lock); }

bool InputSource::IsAfter(uint32_t lock) const { return m_maker.Checker().CheckLockTime(lock); }

bool Solve(ByteSpan script_pubkey, const KeyRing& keys, const SignatureMaker& maker,
           SpendData& data)
{
    if (data.complete) return true;
    Steps steps(keys, maker, data);
    ScriptKind kind{};
    std::vector<Bytes> stack;
    bool solved = steps.Run(script_pubkey, SigVersion::kBase, kind, stack);
    const bool in_script_hash = solved && kind == ScriptKind::kScriptHash;
    if (in_script_hash) {
        const Bytes redeem_script = stack[0];
        data.redeem_script = redeem_script;
        solved = steps.Run(redeem_script, SigVersion::kBase, kind, stack) &&
                 kind != ScriptKind::kScriptHash;
    }
    ScriptKind inner{};
    if (solved && kind == ScriptKind::kWitnessV0KeyHash) {
        const Bytes script = PubkeyHashScript(stack[0]);
        solved = steps.Run(script, SigVersion::kWitnessV0, inner, stack);
        data.witness = std::move(stack);
        data.by_witness = true;
        stack.clear();
    } else if (solved && kind == ScriptKind::kWitnessV0ScriptHash) {
        const Bytes script = stack[0];
        data.witness_script = script;
        solved = steps.Run(script, SigVersion::kWitnessV0, inner, stack) && !IsWrapping(inner);
        // Some templates are miniscripts too: then missing items are reported twice, as in Core.
        if (!solved && stack.empty()) solved = steps.RunMiniscript(script, stack);
        stack.push_back(script);
        data.witness = std::move(stack);
        data.by_witness = true;
        stack.clear();
    } else if (kind == ScriptKind::kTaproot && !in_script_hash) {
        data.by_witness = true;
        if (solved) data.witness = std::move(stack);
        stack.clear();
    }
    if (!data.by_witness) data.witness.clear();
    if (in_script_hash) stack.push_back(data.redeem_script);
    data.script_sig = PushAll(stack);
    data.complete = solved && data.Verify(script_pubkey, maker.Checker()) == ScriptError::kOk;
    return data.complete;
}

ScriptError SpendData::Verify(ByteSpan script_pubkey, const SignatureChecker& checker) const
{
    const Bytes items = WitnessItems(witness);
    return VerifyScript(script_sig, script_pubkey, {items, static_cast<uint32_t>(witness.size())},
                        kStandardVerifyFlags, checker);
}

} // namespace ibd
