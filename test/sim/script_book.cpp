// See script_book.h.
#include "sim/script_book.h"

#include "crypto/ripemd160.h"
#include "script/opcodes.h"
#include "script/standard.h"
#include "util/check.h"

namespace ibd::sim {

namespace {

constexpr int kKeys = 64;
constexpr int kVariants = 256;    //!< templates of the common types
constexpr int kMultisigCost = 80; //!< 20 operations, counted without looking at the keys

Bytes ToBytes(const auto& array) { return {array.begin(), array.end()}; }

Bytes P2pk(ByteSpan key)
{
    Bytes out;
    AppendPush(out, key);
    out.push_back(OP_CHECKSIG);
    return out;
}

Bytes Multisig(uint8_t required_op, const std::vector<Bytes>& keys)
{
    Bytes out{required_op};
    for (const Bytes& key : keys) AppendPush(out, key);
    out.push_back(static_cast<uint8_t>(OP_1 + keys.size() - 1));
    out.push_back(OP_CHECKMULTISIG);
    return out;
}

Bytes PushOf(ByteSpan data)
{
    Bytes out;
    AppendPush(out, data);
    return out;
}

Bytes P2wsh(ByteSpan script) { return WitnessProgramScript(0, Sha256Of(script)); }

/** <33 bytes> 2DROP 1: as long as a key and its check; takes one item, leaves true. */
Bytes FreeScript(Rng& rng)
{
    Bytes out = PushOf(rng.RandomBytes(33));
    out.push_back(OP_2DROP);
    out.push_back(OP_1);
    return out;
}

/** An output key that commits to one leaf, and the control block to spend by it (BIP341). */
struct Taproot {
    XOnlyKey output_key;
    Bytes control;
    Hash32 tweak;
};

Taproot MakeTaproot(const XOnlyKey& internal, const Bytes& leaf)
{
    constexpr uint8_t kLeafVersion = 0xc0;
    Sha256 leaf_hash = TaggedHash("TapLeaf");
    Bytes head{kLeafVersion};
    CHECK(leaf.size() < 253);
    head.push_back(static_cast<uint8_t>(leaf.size()));
    leaf_hash.Write(head).Write(leaf);
    Taproot out;
    Sha256 tweak = TaggedHash("TapTweak");
    tweak.Write(internal);
    if (!leaf.empty()) tweak.Write(leaf_hash.Finalize());
    out.tweak = tweak.Finalize();
    const auto tweaked = TweakXOnlyKey(internal, out.tweak);
    CHECK(tweaked);
    out.output_key = tweaked->first;
    out.control.push_back(static_cast<uint8_t>(kLeafVersion | (tweaked->second ? 1 : 0)));
    Append(out.control, internal);
    return out;
}

/** Anyone can spend, exactly as long as a script may be. */
LockTemplate LongestScript(Rng& rng)
{
    LockTemplate out;
    for (int i = 0; i < 19; ++i) {
        Append(out.script_pubkey, PushOf(rng.RandomBytes(520)));
        out.script_pubkey.push_back(OP_DROP);
    }
    Append(out.script_pubkey, PushOf(rng.RandomBytes(41)));
    out.script_pubkey.push_back(OP_DROP);
    out.script_pubkey.push_back(OP_1);
    CHECK(out.script_pubkey.size() == kMaxScriptSize);
    return out;
}

} // namespace

ScriptBook::ScriptBook(uint64_t seed, bool signed_spends) : m_rng(seed ^ 0x626f6f6b)
{
    for (int i = 0; i < kKeys; ++i) {
        Hash32 secret;
        const Bytes random = m_rng.RandomBytes(32);
        std::memcpy(secret.data(), random.data(), 32);
        CHECK(Signer::IsValidSecret(secret));
        m_secrets.push_back(secret);
    }
    if (signed_spends) {
        AddSignedLegacy();
        AddSignedWitness();
    } else {
        AddUnsigned();
    }
}

template <typename Make>
void ScriptBook::AddGroup(unsigned weight, int count, Make make)
{
    m_groups.push_back(
        {weight, static_cast<uint16_t>(m_templates.size()), static_cast<uint16_t>(count)});
    for (int i = 0; i < count; ++i) m_templates.push_back(make(static_cast<size_t>(i)));
    m_total_weight += weight;
}

void ScriptBook::AddUnsigned()
{
    using Template = LockTemplate;
    AddGroup(3500, kVariants, [&](size_t) { // P2WSH
        Template t;
        const Bytes script = FreeScript(m_rng);
        t.script_pubkey = P2wsh(script);
        t.stack = {m_rng.RandomBytes(71), script};
        return t;
    });
    AddGroup(2500, kVariants, [&](size_t) { // P2SH
        Template t;
        const Bytes script = FreeScript(m_rng);
        t.script_pubkey = ScriptHashScript(Hash160(script));
        t.script_sig = PushOf(m_rng.RandomBytes(71));
        Append(t.script_sig, PushOf(script));
        return t;
    });
    AddGroup(1000, kVariants, [&](size_t) { // P2SH-P2WSH
        Template t;
        const Bytes script = FreeScript(m_rng), program = P2wsh(script);
        t.script_pubkey = ScriptHashScript(Hash160(program));
        t.script_sig = PushOf(program);
        t.stack = {m_rng.RandomBytes(71), script};
        return t;
    });
    AddGroup(2000, kVariants, [&](size_t i) { // P2TR, script path
        Template t;
        const Bytes script = FreeScript(m_rng);
        const Taproot taproot = MakeTaproot(m_signer.XOnlyPublicKey(m_secrets[i % kKeys]), script);
        t.script_pubkey = WitnessProgramScript(1, taproot.output_key);
        t.stack = {m_rng.RandomBytes(64), script, taproot.control};
        return t;
    });
    AddGroup(200, kKeys, [&](size_t i) { // bare multisig, 0 of 1
        Template t;
        t.script_pubkey = Multisig(OP_0, {ToBytes(m_signer.PublicKey(m_secrets[i]))});
        t.script_sig = {OP_0};
        t.sigops_cost = kMultisigCost;
        return t;
    });
    AddGroup(790, kVariants, [&](size_t) { // a bare script
        Template t;
        t.script_pubkey = FreeScript(m_rng);
        t.script_sig = PushOf(m_rng.RandomBytes(71));
        return t;
    });
    AddGroup(9, 1, [&](size_t) { // the empty script
        Template t;
        t.script_sig = {OP_1};
        return t;
    });
    AddGroup(1, 1, [&](size_t) { return LongestScript(m_rng); });
}

Bytes ScriptBook::Key(size_t i) const { return ToBytes(m_signer.PublicKey(m_secrets[i % kKeys])); }

/** 2 of 3, signed by first and last. */
LockTemplate ScriptBook::TwoOfThree(LockTemplate::Signing signing, size_t i) const
{
    LockTemplate t;
    t.signing = signing;
    t.code = Multisig(OP_2, {Key(i), Key(i + 1), Key(i + 2)});
    t.multisig_dummy = true;
    t.secrets = {m_secrets[i % kKeys], m_secrets[(i + 2) % kKeys]};
    t.sigops_cost = 12;
    return t;
}

void ScriptBook::AddSignedLegacy()
{
    using Template = LockTemplate;
    using Signing = Template::Signing;
    const auto legacy = [&](const Bytes& script, size_t i) {
        Template t;
        t.signing = Signing::kLegacy;
        t.script_pubkey = t.code = script;
        t.secrets = {m_secrets[i]};
        t.sigops_cost = 4;
        return t;
    };
    AddGroup(20, kKeys, [&](size_t i) { return legacy(P2pk(Key(i)), i); });
    AddGroup(10, kKeys, [&](size_t i) {
        return legacy(P2pk(m_signer.UncompressedPublicKey(m_secrets[i])), i);
    });
    AddGroup(220, kKeys, [&](size_t i) {
        Template t = legacy(PubkeyHashScript(Hash160(Key(i))), i);
        t.stack = {Key(i)};
        return t;
    });
    AddGroup(20, kKeys, [&](size_t i) {
        const Bytes long_key = ToBytes(m_signer.UncompressedPublicKey(m_secrets[i]));
        Template t = legacy(PubkeyHashScript(Hash160(long_key)), i);
        t.stack = {long_key};
        return t;
    });
    AddGroup(60, kKeys, [&](size_t i) {
        Template t = TwoOfThree(Signing::kLegacy, i);
        t.script_pubkey = ScriptHashScript(Hash160(t.code));
        t.stack = {t.code};
        return t;
    });
    AddGroup(20, kKeys, [&](size_t i) {
        Template t = TwoOfThree(Signing::kLegacy, i);
        t.script_pubkey = t.code;
        t.sigops_cost = kMultisigCost;
        return t;
    });
}

void ScriptBook::AddSignedWitness()
{
    using Template = LockTemplate;
    using Signing = Template::Signing;
    const auto wpkh = [&](size_t i) {
        Template t;
        t.signing = Signing::kSegwitV0;
        t.script_pubkey = WitnessProgramScript(0, Hash160(Key(i)));
        t.code = PubkeyHashScript(Hash160(Key(i)));
        t.secrets = {m_secrets[i]};
        t.stack = {Key(i)};
        t.sigops_cost = 1;
        return t;
    };
    AddGroup(300, kKeys, wpkh);
    AddGroup(90, kKeys, [&](size_t i) {
        Template t = wpkh(i);
        t.script_sig = PushOf(t.script_pubkey);
        t.script_pubkey = ScriptHashScript(Hash160(t.script_pubkey));
        return t;
    });
    AddGroup(80, kKeys, [&](size_t i) {
        Template t = TwoOfThree(Signing::kSegwitV0, i);
        t.script_pubkey = P2wsh(t.code);
        t.stack = {t.code};
        return t;
    });
    AddGroup(140, kKeys, [&](size_t i) {
        Template t;
        t.signing = Signing::kTaprootKey;
        const Taproot taproot = MakeTaproot(m_signer.XOnlyPublicKey(m_secrets[i]), {});
        t.script_pubkey = WitnessProgramScript(1, taproot.output_key);
        t.secrets = {*m_signer.TweakSecret(m_secrets[i], taproot.tweak)};
        return t;
    });
    AddGroup(40, kKeys, [&](size_t i) {
        Template t;
        t.signing = Signing::kTaprootScript;
        t.code = P2pk(m_signer.XOnlyPublicKey(m_secrets[i]));
        const Taproot taproot =
            MakeTaproot(m_signer.XOnlyPublicKey(m_secrets[(i + 1) % kKeys]), t.code);
        t.script_pubkey = WitnessProgramScript(1, taproot.output_key);
        t.secrets = {m_secrets[i]};
        t.stack = {t.code, taproot.control};
        return t;
    });
}

uint16_t ScriptBook::Draw(Rng& rng) const
{
    unsigned at = static_cast<unsigned>(rng.Below(m_total_weight));
    for (const Group& group : m_groups) {
        if (at < group.weight) {
            return static_cast<uint16_t>(group.first + rng.Below(group.count));
        }
        at -= group.weight;
    }
    CHECK(false);
    return 0;
}

Bytes ScriptBook::Keeper(Rng& rng, int& sigops_cost) const
{
    const auto key = [&] { return m_signer.PublicKey(m_secrets[rng.Below(kKeys)]); };
    const uint64_t kind = rng.Below(100);
    if (kind < 38) {
        sigops_cost += 4;
        return PubkeyHashScript(rng.RandomBytes(20));
    }
    if (kind < 63) return WitnessProgramScript(0, rng.RandomBytes(20));
    if (kind < 78) return WitnessProgramScript(1, rng.RandomBytes(32));
    if (kind < 88) return ScriptHashScript(rng.RandomBytes(20));
    if (kind < 93) return WitnessProgramScript(0, rng.RandomBytes(32));
    sigops_cost += kind < 97 ? 4 : kMultisigCost;
    if (kind < 95) return P2pk(key());
    if (kind < 97) return P2pk(m_signer.UncompressedPublicKey(m_secrets[rng.Below(kKeys)]));
    return Multisig(OP_1, {ToBytes(key()), ToBytes(key())});
}

} // namespace ibd::sim
