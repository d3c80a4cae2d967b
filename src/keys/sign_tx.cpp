// See sign.h. This file: makes signatures, and finds those that an input has already.
#include "keys/sign.h"

#include "crypto/sign_low_r.h"
#include "script/no_signatures.h"

#include <algorithm>

namespace ibd {

namespace {

class AnySignatures final : public SignatureChecker {
public:
    bool CheckEcdsa(ByteSpan signature, ByteSpan, ByteSpan, SigVersion) const override
    {
        return !signature.empty();
    }
    ScriptError CheckSchnorr(ByteSpan signature, ByteSpan, const TaprootContext&) const override
    {
        return signature.empty() ? ScriptError::kSchnorrSig : ScriptError::kOk;
    }
    bool CheckLockTime(int64_t) const override { return true; }
    bool CheckSequence(int64_t) const override { return true; }
};

/** Keeps the signatures that are right. */
class Collector final : public SignatureChecker {
public:
    Collector(const SignatureChecker& checker, SpendData& data) : m_checker(checker), m_data(data)
    {
    }
    bool CheckEcdsa(ByteSpan signature, ByteSpan key, ByteSpan script_code,
                    SigVersion version) const override
    {
        if (!m_checker.CheckEcdsa(signature, key, script_code, version)) return false;
        m_data.signatures.emplace(
            Hash160(key),
            std::pair(Bytes(key.begin(), key.end()), Bytes(signature.begin(), signature.end())));
        return true;
    }
    ScriptError CheckSchnorr(ByteSpan signature, ByteSpan key,
                             const TaprootContext& context) const override
    {
        return m_checker.CheckSchnorr(signature, key, context);
    }
    bool CheckLockTime(int64_t time) const override { return m_checker.CheckLockTime(time); }
    bool CheckSequence(int64_t sequence) const override
    {
        return m_checker.CheckSequence(sequence);
    }

private:
    const SignatureChecker& m_checker;
    SpendData& m_data;
};

/** Takes the last item of a stack; empty if there is none. */
Bytes TakeScript(std::vector<Bytes>& stack)
{
    if (stack.empty() || stack.back().empty()) return {};
    Bytes script = std::move(stack.back());
    stack.pop_back();
    return script;
}

/** Finds the key of each signature; both are in the same order. */
void MatchSignatures(const ScriptTemplate& multisig, ByteSpan script,
                     const std::vector<Bytes>& signatures, SigVersion version,
                     const Collector& collector, const SpendData& data)
{
    size_t next = 0; // first key without a signature
    for (const Bytes& signature : signatures) {
        for (size_t i = next; i < multisig.parts.size(); ++i) {
            const ByteSpan key = multisig.parts[i];
            if (!data.signatures.contains(Hash160(key)) &&
                !collector.CheckEcdsa(signature, key, script, version)) {
                continue;
            }
            next = i + 1;
            break;
        }
    }
}

std::string InputFault(ScriptError error)
{
    if (error == ScriptError::kInvalidStackOperation) {
        return "Unable to sign input, invalid stack size (possibly missing key)";
    }
    if (error == ScriptError::kSigNullFail) {
        return "CHECK(MULTI)SIG failing with non-zero signature (possibly need more signatures)";
    }
    return ScriptErrorText(error);
}

/** All outputs, or none if one is unknown. */
std::vector<SpentOutput> AllSpent(const std::vector<std::optional<MutableOutput>>& spent)
{
    std::vector<SpentOutput> out;
    for (const auto& output : spent) {
        if (!output) return {};
        out.push_back({output->value, output->script_pubkey});
    }
    return out;
}

} // namespace

const Bytes* SpendData::FindPublicKey(const KeyRing& keys, const Hash20& hash) const
{
    if (const auto it = signatures.find(hash); it != signatures.end()) return &it->second.first;
    if (const auto it = origins.find(hash); it != origins.end()) return &it->second.first;
    const auto it = keys.public_keys.find(hash);
    return it == keys.public_keys.end() ? nullptr : &it->second;
}

void SpendData::Merge(SpendData other)
{
    if (complete) return;
    if (other.complete) {
        *this = std::move(other);
        return;
    }
    if (redeem_script.empty()) redeem_script = std::move(other.redeem_script);
    if (witness_script.empty()) witness_script = std::move(other.witness_script);
    signatures.merge(other.signatures);
}

std::optional<Bytes> TxSignatureMaker::Ecdsa(const Hash20& key, ByteSpan script_code,
                                             SigVersion version) const
{
    const auto secret = m_keys.secrets.find(key);
    if (secret == m_keys.secrets.end()) return std::nullopt;
    const bool in_witness = version == SigVersion::kWitnessV0;
    if (in_witness && (!secret->second.compressed || !MoneyRange(m_spent.value))) {
        return std::nullopt;
    }
    const uint8_t type = m_hash_type == kSigHashDefault ? kSigHashAll : m_hash_type;
    const Hash32 hash =
        in_witness ? WitnessV0SigHash(m_tx, m_input, script_code, m_spent.value, type, m_hashes)
                   : LegacySigHash(m_tx, m_input, script_code, type);
    Bytes signature = SignEcdsaLowR(secret->second.bytes, hash);
    signature.push_back(type);
    return signature;
}

std::optional<Bytes> TxSignatureMaker::Schnorr(const XOnlyKey& key, const SchnorrUse& use) const
{
    const SecretKey* const found = m_keys.FindSecret(key);
    if (found == nullptr) return std::nullopt;
    std::optional<SecretArray<32>> secret = found->bytes;
    if (use.merkle_root) {
        secret = Signer().TweakSecret(*secret, TapTweakHash(key, *use.merkle_root));
    }
    TaprootContext context;
    context.tapscript = use.leaf.has_value();
    if (use.leaf) context.leaf_hash = *use.leaf;
    const auto hash = TaprootSigHash(m_tx, m_input, m_spent, m_hash_type, m_hashes, context);
    if (!secret || !hash) return std::nullopt;
    const SchnorrSignature made = Signer().SignSchnorr(*secret, *hash);
    Bytes signature(made.begin(), made.end());
    if (m_hash_type != kSigHashDefault) signature.push_back(m_hash_type);
    return signature;
}

DummySignatureMaker::DummySignatureMaker() : m_checker(std::make_unique<AnySignatures>()) {}
DummySignatureMaker::~DummySignatureMaker() = default;

std::optional<Bytes> DummySignatureMaker::Ecdsa(const Hash20&, ByteSpan, SigVersion) const
{
    // The encoding of r = s = 2^248, which has the usual size.
    constexpr uint8_t kNumber = 32;
    Bytes signature = {0x30, 2 * kNumber + 4};
    for (int i = 0; i < 2; ++i) {
        Append(signature, Bytes{2, kNumber, 1});
        signature.resize(signature.size() + kNumber - 1);
    }
    signature.push_back(kSigHashAll);
    return signature;
}

std::optional<Bytes> DummySignatureMaker::Schnorr(const XOnlyKey&, const SchnorrUse&) const
{
    return Bytes(std::tuple_size_v<SchnorrSignature>, 0);
}

const SignatureChecker& NoSignatureMaker::Checker() const
{
    static const NoSignatures checker;
    return checker;
}

SpendData ExtractSpend(const TxView& tx, size_t input, const SpentOutput& spent)
{
    SpendData data;
    const InputView& view = tx.inputs[input];
    data.script_sig.assign(view.script_sig.begin(), view.script_sig.end());
    ForEachWitnessItem(view,
                       [&](ByteSpan item) { data.witness.emplace_back(item.begin(), item.end()); });
    const TxHashes hashes(tx, {}); // without the other outputs taproot cannot be checked
    const TxSignatureChecker checker(tx, input, spent, hashes);
    const Collector collector(checker, data);
    data.complete = data.Verify(spent.script_pubkey, collector) == ScriptError::kOk;
    if (data.complete) return data;

    ScriptStack pushed;
    EvalScript(pushed, data.script_sig, kVerifyStrictEnc, NoSignatures(), SigVersion::kBase);
    std::vector<Bytes> stack;
    for (const ByteSpan item : pushed) stack.emplace_back(item.begin(), item.end());
    std::vector<Bytes> items = data.witness;
    Bytes script(spent.script_pubkey.begin(), spent.script_pubkey.end());
    SigVersion version = SigVersion::kBase;
    if (ClassifyScript(script).kind == ScriptKind::kScriptHash) {
        if (Bytes redeem = TakeScript(stack); !redeem.empty()) script = data.redeem_script = redeem;
    }
    if (ClassifyScript(script).kind == ScriptKind::kWitnessV0ScriptHash) {
        if (Bytes inner = TakeScript(items); !inner.empty()) {
            script = data.witness_script = inner;
            stack = std::move(items);
            version = SigVersion::kWitnessV0;
        }
    }
    const ScriptTemplate shape = ClassifyScript(script);
    if (shape.kind == ScriptKind::kMultisig) {
        MatchSignatures(shape, script, stack, version, collector, data);
    }
    return data;
}

std::map<size_t, std::string>
SignTransaction(MutableTransaction& tx, const KeyRing& keys,
                const std::vector<std::optional<MutableOutput>>& spent, uint8_t hash_type)
{
    const TransactionRef frozen = tx.Freeze(); // signatures do not depend on the filled-in data
    const std::vector<SpentOutput> all = AllSpent(spent);
    const TxHashes hashes(frozen->View(), all);
    const bool single = (hash_type & ~kSigHashAnyoneCanPay) == kSigHashSingle;
    std::map<size_t, std::string> faults;
    for (size_t i = 0; i < tx.inputs.size(); ++i) {
        if (!spent[i]) {
            faults[i] = "Input not found or already spent";
            continue;
        }
        const SpentOutput output{spent[i]->value, spent[i]->script_pubkey};
        SpendData data = ExtractSpend(frozen->View(), i, output);
        const TxSignatureMaker maker(frozen->View(), i, output, hashes, hash_type, keys);
        if (!single || i < tx.outputs.size()) Solve(output.script_pubkey, keys, maker, data);
        tx.inputs[i].script_sig = data.script_sig;
        tx.inputs[i].witness = data.witness;
        if (output.value == kMaxMoney && !data.witness.empty()) {
            faults[i] = "Missing amount";
            continue;
        }
        if (data.complete) continue;
        const ScriptError error = data.Verify(output.script_pubkey, maker.Checker());
        if (error != ScriptError::kOk) faults[i] = InputFault(error);
    }
    return faults;
}

std::optional<uint8_t> ParseSigHashName(std::string_view name)
{
    constexpr std::string_view kSuffix = "|ANYONECANPAY";
    if (name == "DEFAULT") return kSigHashDefault;
    const bool anyone = name.ends_with(kSuffix);
    if (anyone) name.remove_suffix(kSuffix.size());
    for (const auto& [known, type] :
         {std::pair{"ALL", kSigHashAll}, std::pair{"NONE", kSigHashNone},
          std::pair{"SINGLE", kSigHashSingle}}) {
        if (name == known) return anyone ? type | kSigHashAnyoneCanPay : type;
    }
    return std::nullopt;
}

} // namespace ibd
