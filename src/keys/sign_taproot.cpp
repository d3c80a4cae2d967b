// See sign.h. This file: taproot outputs (BIP341), by their key or by a leaf.
#include "keys/sign.h"

#include "primitives/serialize.h"

#include <algorithm>

namespace ibd {

namespace {

XOnlyKey AsXOnly(ByteSpan bytes)
{
    XOnlyKey out;
    std::copy_n(bytes.begin(), out.size(), out.begin());
    return out;
}

class Leaves {
public:
    Leaves(const KeyRing& keys, const SignatureMaker& maker, SpendData& data)
        : m_keys(keys), m_maker(maker), m_data(data)
    {
        for (const auto& [key, origin] : data.taproot_origins) m_by_hash.emplace(Hash160(key), key);
    }

    /** Notes the origin of a key, and the leaf that it signs for. */
    void NoteOrigin(const XOnlyKey& key, const Hash32* leaf)
    {
        const KeyOrigin* const origin = m_keys.FindOrigin(key);
        if (origin == nullptr) return;
        const auto it = m_data.taproot_origins.emplace(key, TapKeyOrigin{{}, *origin}).first;
        if (leaf != nullptr) it->second.first.insert(*leaf);
    }

    /** The witness of a leaf without its script; nothing: items are missing, or the leaf is no
     *  miniscript. As in Core, the miniscript may be insane. */
    std::optional<std::vector<Bytes>> Sign(ByteSpan script)
    {
        const Hash32 hash = TapLeafHash(kLeafTapscript, script);
        const auto find_key = [&](const Hash20& key) { return FindKey(key); };
        const auto found = FromScript(script, miniscript::Context::kTapscript, find_key);
        if (!found) return std::nullopt;
        LeafSource source(*this, hash);
        return Satisfy(*found, source);
    }

private:
    /** Answers the questions of a miniscript in a leaf. */
    class LeafSource final : public InputSource {
    public:
        LeafSource(Leaves& leaves, const Hash32& leaf)
            : InputSource(leaves.m_maker, leaves.m_data), m_leaves(leaves), m_leaf(leaf)
        {
        }
        std::optional<Bytes> Sign(ByteSpan key) override
        {
            return m_leaves.SignOne(AsXOnly(key), m_leaf);
        }

    private:
        Leaves& m_leaves;
        const Hash32 m_leaf;
    };

    std::optional<Bytes> SignOne(const XOnlyKey& key, const Hash32& leaf)
    {
        NoteOrigin(key, &leaf);
        auto& known = m_data.taproot_script_signatures;
        if (const auto it = known.find({key, leaf}); it != known.end()) return it->second;
        auto signature = m_maker.Schnorr(key, {leaf, std::nullopt});
        if (signature) known[{key, leaf}] = *signature;
        return signature;
    }

    std::optional<Bytes> FindKey(const Hash20& hash)
    {
        if (const auto it = m_by_hash.find(hash); it != m_by_hash.end()) {
            return Bytes(it->second.begin(), it->second.end());
        }
        // The ring has the keys of a miniscript in tr() also by the Hash160 of the last 32 bytes.
        if (const Bytes* const key = m_data.FindPublicKey(m_keys, hash)) {
            return Bytes(key->begin() + 1, key->end());
        }
        m_data.missing_keys.push_back(hash);
        return std::nullopt;
    }

    const KeyRing& m_keys;
    const SignatureMaker& m_maker;
    SpendData& m_data;
    /** Keys with an origin in the input, by Hash160. Keys that NoteOrigin() adds are left out. */
    std::map<Hash20, XOnlyKey> m_by_hash;
};

size_t SizeOf(const std::vector<Bytes>& witness)
{
    size_t size = CompactSizeLength(witness.size());
    for (const Bytes& item : witness) size += CompactSizeLength(item.size()) + item.size();
    return size;
}

} // namespace

std::optional<std::vector<Bytes>> SolveTaproot(const XOnlyKey& output, const KeyRing& keys,
                                               const SignatureMaker& maker, SpendData& data)
{
    if (const auto it = keys.taproots.find(output); it != keys.taproots.end()) {
        data.taproot.Merge(it->second.Spends());
        data.taproot_leaves = it->second.leaves;
    }
    Leaves leaves(keys, maker, data);
    Bytes& signature = data.taproot_signature;
    const auto& internal = data.taproot.internal_key;
    if (internal) leaves.NoteOrigin(*internal, nullptr);
    leaves.NoteOrigin(output, nullptr);
    if (signature.empty() && internal) {
        const auto& root = data.taproot.merkle_root;
        const Bytes tweak = root ? Bytes(root->begin(), root->end()) : Bytes();
        signature = maker.Schnorr(*internal, {std::nullopt, tweak}).value_or(Bytes());
    }
    if (signature.empty()) signature = maker.Schnorr(output, {}).value_or(Bytes());
    if (!signature.empty()) return std::vector<Bytes>{signature};

    std::optional<std::vector<Bytes>> best;
    for (const auto& [leaf, controls] : data.taproot.scripts) {
        if (leaf.second != kLeafTapscript) continue;
        auto stack = leaves.Sign(leaf.first);
        if (!stack || controls.empty()) continue;
        stack->push_back(leaf.first);
        stack->push_back(*controls.begin()); // the shortest
        if (!best || SizeOf(*stack) < SizeOf(*best)) best = std::move(stack);
    }
    return best;
}

} // namespace ibd
