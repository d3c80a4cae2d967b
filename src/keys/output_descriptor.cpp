// The scripts of a parsed descriptor. See output_descriptor.h.
#include "keys/output_descriptor.h"

#include "crypto/ripemd160.h"
#include "keys/descriptor.h"
#include "keys/miniscript/script.h"
#include "keys/miniscript/text.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

const char* FunctionName(DescriptorKind kind)
{
    switch (kind) {
    case DescriptorKind::kAddress: return "addr";
    case DescriptorKind::kRaw: return "raw";
    case DescriptorKind::kPk: return "pk";
    case DescriptorKind::kPkh: return "pkh";
    case DescriptorKind::kWpkh: return "wpkh";
    case DescriptorKind::kCombo: return "combo";
    case DescriptorKind::kMulti: return "multi";
    case DescriptorKind::kSortedMulti: return "sortedmulti";
    case DescriptorKind::kMultiA: return "multi_a";
    case DescriptorKind::kSortedMultiA: return "sortedmulti_a";
    case DescriptorKind::kSh: return "sh";
    case DescriptorKind::kWsh: return "wsh";
    case DescriptorKind::kTaproot: return "tr";
    case DescriptorKind::kRawTaproot: return "rawtr";
    case DescriptorKind::kUnused: return "unused";
    case DescriptorKind::kMiniscript: break; // has no function around it
    }
    return "";
}

bool IsMulti(DescriptorKind kind)
{
    return kind >= DescriptorKind::kMulti && kind <= DescriptorKind::kSortedMultiA;
}

/** Formats leaves with their depths as "{a,{b,c}}". */
std::string TreeText(const std::vector<std::string>& leaves, const std::vector<int>& depths)
{
    std::string out;
    std::vector<bool> in_right; // for each open brace: whether its comma has passed
    for (size_t i = 0; i < leaves.size(); ++i) {
        if (i > 0) out += ',';
        while (static_cast<int>(in_right.size()) < depths[i]) {
            out += '{';
            in_right.push_back(false);
        }
        out += leaves[i];
        while (!in_right.empty() && in_right.back()) {
            out += '}';
            in_right.pop_back();
        }
        if (!in_right.empty()) in_right.back() = true;
    }
    return out;
}

std::string NodeText(const DescriptorNode& node, const DescriptorNetwork& network)
{
    if (node.kind == DescriptorKind::kMiniscript) {
        return ToText(*node.miniscript, node.context,
                      [&](uint32_t key) { return node.keys[key].ToString(network); });
    }
    std::string inner;
    if (node.kind == DescriptorKind::kRaw) inner = ToHex(node.script);
    if (node.kind == DescriptorKind::kAddress) {
        inner = EncodeAddress(node.script, network.addresses).value_or("");
    }
    if (IsMulti(node.kind)) inner = std::to_string(node.threshold);
    for (const KeyExpression& key : node.keys) {
        inner += (inner.empty() ? "" : ",") + key.ToString(network);
    }
    std::vector<std::string> children;
    for (const DescriptorNode& child : node.children) children.push_back(NodeText(child, network));
    if (node.kind == DescriptorKind::kTaproot && !children.empty()) {
        inner += "," + TreeText(children, node.depths);
    } else if (!children.empty()) {
        inner = children[0];
    }
    return std::string(FunctionName(node.kind)) + "(" + inner + ")";
}

std::string WithChecksum(const std::string& text) { return text + "#" + DescriptorChecksum(text); }

template <typename Check>
bool AnyKey(const DescriptorNode& node, const Check& check)
{
    return std::any_of(node.keys.begin(), node.keys.end(), check) ||
           std::any_of(node.children.begin(), node.children.end(),
                       [&](const DescriptorNode& child) { return AnyKey(child, check); });
}

/** A script and its own descriptor without checksum; empty: not asked for, or the script alone
 *  does not tell it. */
using Made = std::pair<Bytes, std::string>;

Bytes PushKeyCheck(ByteSpan key)
{
    Bytes out;
    AppendPush(out, key);
    out.push_back(OP_CHECKSIG);
    return out;
}

Bytes Hash160Bytes(ByteSpan data)
{
    const Hash20 hash = Hash160(data);
    return {hash.begin(), hash.end()};
}

Made MadePk(const DerivedKey& key)
{
    return {PushKeyCheck(key.public_key), "pk(" + key.ToString() + ")"};
}

Made MadePkh(const DerivedKey& key)
{
    return {PubkeyHashScript(Hash160Bytes(key.public_key)), "pkh(" + key.ToString() + ")"};
}

Made MadeWpkh(const DerivedKey& key)
{
    return {WitnessProgramScript(0, Hash160Bytes(key.public_key)), "wpkh(" + key.ToString() + ")"};
}

std::string MultiText(const char* function, uint32_t threshold, const std::vector<DerivedKey>& keys)
{
    std::string text = std::string(function) + "(" + std::to_string(threshold);
    for (const DerivedKey& key : keys) text += "," + key.ToString();
    return text + ")";
}

Made MadeMulti(uint32_t threshold, std::vector<DerivedKey> keys, bool sorted)
{
    if (sorted) {
        std::sort(keys.begin(), keys.end(), [](const DerivedKey& a, const DerivedKey& b) {
            return a.public_key < b.public_key;
        });
    }
    Bytes script;
    AppendPushInt(script, threshold);
    for (const DerivedKey& key : keys) AppendPush(script, key.public_key);
    AppendPushInt(script, static_cast<int64_t>(keys.size()));
    script.push_back(OP_CHECKMULTISIG);
    return {script, MultiText("multi", threshold, keys)};
}

/** BIP387: CHECKSIG of the first key, CHECKSIGADD of the others, and the threshold. */
Made MadeMultiA(uint32_t threshold, std::vector<DerivedKey> keys, bool sorted)
{
    if (sorted) {
        std::sort(keys.begin(), keys.end(),
                  [](const DerivedKey& a, const DerivedKey& b) { return a.XOnly() < b.XOnly(); });
    }
    Bytes script;
    for (size_t i = 0; i < keys.size(); ++i) {
        AppendPush(script, keys[i].XOnly());
        script.push_back(i == 0 ? OP_CHECKSIG : OP_CHECKSIGADD);
    }
    AppendPushInt(script, threshold);
    script.push_back(OP_NUMEQUAL);
    return {script, MultiText("multi_a", threshold, keys)};
}

void FindKeyHashes(const miniscript::Node& node, std::set<uint32_t>& keys)
{
    if (node.fragment == miniscript::Fragment::kKeyHash) keys.insert(node.keys[0]);
    for (const miniscript::Node& sub : node.subs) FindKeyHashes(sub, keys);
}

using miniscript::Context;

/** The descriptor of a miniscript's script, whose keys are among `keys`; empty: it is not sane, by
 *  keys that differ in the descriptor but not in the script. */
std::string MiniscriptText(const Bytes& script, Context context, const std::vector<Bytes>& bytes,
                           const std::vector<DerivedKey>& keys)
{
    std::map<Bytes, const DerivedKey*> by_bytes;
    std::map<Hash20, Bytes> by_hash;
    for (size_t i = 0; i < keys.size(); ++i) {
        by_bytes.emplace(bytes[i], &keys[i]);
        by_hash.emplace(Hash160(bytes[i]), bytes[i]);
    }
    const auto read = FromScript(script, context, [&](const Hash20& hash) {
        const auto it = by_hash.find(hash);
        return it == by_hash.end() ? std::nullopt : std::optional(it->second);
    });
    if (!read || !IsSane(*read)) return "";
    std::set<uint32_t> hashed; // Core shows these with all 33 bytes in taproot too
    FindKeyHashes(read->root, hashed);
    return ToText(*read, [&](uint32_t key) {
        DerivedKey shown = *by_bytes.at(read->keys[key]);
        shown.x_only = shown.x_only && !hashed.contains(key);
        return shown.ToString();
    });
}

struct LeafText {
    const TapLeaf* leaf = nullptr;
    Bytes path; //!< see TapPaths()
    std::string text;
};

/** Core's order of leaves that only their scripts and control blocks tell. */
bool ComesBefore(const LeafText& a, const LeafText& b)
{
    if (a.leaf->script != b.leaf->script) return a.leaf->script < b.leaf->script;
    return ShorterFirst()(a.path, b.path);
}

/** The leaves from `at` on that have at least this depth in the tree: of two branches, first that
 *  with the first leaf. */
std::vector<LeafText> OrderedLeaves(const std::vector<LeafText>& leaves, size_t& at, int depth)
{
    if (leaves[at].leaf->depth == depth) return {leaves[at++]};
    std::vector<LeafText> left = OrderedLeaves(leaves, at, depth + 1);
    std::vector<LeafText> right = OrderedLeaves(leaves, at, depth + 1);
    if (ComesBefore(right.front(), left.front())) std::swap(left, right);
    std::ranges::move(right, std::back_inserter(left));
    return left;
}

/** Makes scripts of a node at one position of its range, with their own descriptors if `texts`;
 *  adds the keys and scripts on the way to a ring, if given. */
class Expander {
public:
    Expander(const DescriptorNetwork& network, uint32_t index, bool texts, KeyRing* ring = nullptr)
        : m_network(network), m_index(index), m_texts(texts), m_ring(ring)
    {
    }

    /** `root`: of the whole descriptor. */
    std::optional<std::vector<Made>> Run(const DescriptorNode& root)
    {
        NoteRoots(root);
        return Expand(root, false);
    }

private:
    std::optional<std::vector<Made>> Expand(const DescriptorNode& node, bool in_taproot) const
    {
        auto keys = Keys(node, in_taproot || node.kind == DescriptorKind::kTaproot ||
                                   node.kind == DescriptorKind::kRawTaproot);
        if (!keys) return std::nullopt;
        switch (node.kind) {
        case DescriptorKind::kAddress:
        case DescriptorKind::kRaw: return Plain(node.script);
        case DescriptorKind::kUnused: return std::vector<Made>{};
        case DescriptorKind::kPk:
            return std::vector{in_taproot ? Leaf((*keys)[0]) : MadePk((*keys)[0])};
        case DescriptorKind::kPkh: return std::vector{MadePkh((*keys)[0])};
        case DescriptorKind::kWpkh: return std::vector{MadeWpkh((*keys)[0])};
        case DescriptorKind::kCombo: return Combo((*keys)[0]);
        case DescriptorKind::kMulti: return std::vector{MadeMulti(node.threshold, *keys, false)};
        case DescriptorKind::kSortedMulti:
            return std::vector{MadeMulti(node.threshold, *keys, true)};
        case DescriptorKind::kMultiA: return std::vector{MadeMultiA(node.threshold, *keys, false)};
        case DescriptorKind::kSortedMultiA:
            return std::vector{MadeMultiA(node.threshold, *keys, true)};
        case DescriptorKind::kMiniscript: return std::vector{Miniscript(node, *keys)};
        case DescriptorKind::kSh:
            return Wrapped(node, [this](const Made& inner) { return InScriptHash(inner); });
        case DescriptorKind::kWsh:
            return Wrapped(node, [this](const Made& inner) {
                return Around("wsh(", inner, WitnessProgramScript(0, Sha256Of(inner.first)));
            });
        case DescriptorKind::kTaproot: return Taproot(node, (*keys)[0]);
        case DescriptorKind::kRawTaproot:
            return std::vector{Made{WitnessProgramScript(1, (*keys)[0].XOnly()),
                                    "rawtr(" + (*keys)[0].ToString() + ")"}};
        }
        return std::nullopt;
    }

    /** Notes the secrets of extended keys. As in Core they also serve keys that are written with
     *  the public form of the same extended key. */
    void NoteRoots(const DescriptorNode& node)
    {
        for (const KeyExpression& key : node.keys) NoteRoot(key);
        for (const DescriptorNode& child : node.children) NoteRoots(child);
    }

    std::optional<std::vector<DerivedKey>> Keys(const DescriptorNode& node, bool x_only) const
    {
        std::vector<DerivedKey> out;
        for (const KeyExpression& key : node.keys) {
            auto derived = WithSecret(key).At(m_index);
            if (!derived) return std::nullopt;
            derived->x_only = x_only;
            if (m_ring != nullptr) Note(*derived, key);
            if (m_ring != nullptr && node.kind == DescriptorKind::kMiniscript && x_only) {
                m_ring->public_keys.emplace(Hash160(derived->XOnly()), derived->public_key);
            }
            out.push_back(std::move(*derived));
        }
        return out;
    }

    void NoteRoot(const KeyExpression& key)
    {
        if (key.root.secret) m_roots.emplace(key.root.public_key, *key.root.secret);
        for (const KeyExpression& one : key.participants) NoteRoot(one);
    }

    KeyExpression WithSecret(KeyExpression key) const
    {
        for (KeyExpression& one : key.participants) one = WithSecret(std::move(one));
        if (!key.fixed.empty() || key.root.secret) return key;
        if (const auto it = m_roots.find(key.root.public_key); it != m_roots.end()) {
            key.root.secret = it->second;
        } else if (m_ring != nullptr && !m_ring->secrets.empty()) {
            const auto known = m_ring->secrets.find(Hash160(key.root.public_key));
            if (known != m_ring->secrets.end()) key.root.secret = known->second.bytes;
        }
        return key;
    }

    void Note(const DerivedKey& key, const KeyExpression& text) const
    {
        for (size_t i = 0; i < key.participants.size(); ++i) {
            Note(key.participants[i], text.participants[i]);
        }
        const Hash20 hash = Hash160(key.public_key);
        m_ring->public_keys.emplace(hash, key.public_key);
        m_ring->origins.emplace(hash, key.origin);
        if (key.secret) m_ring->secrets.emplace(hash, *key.secret);
        // An extended secret key also signs as a plain key, as in Core.
        if (text.root.secret) {
            m_ring->secrets.emplace(Hash160(text.root.public_key),
                                    SecretKey{*text.root.secret, true});
        }
    }

    void NoteScript(const Made& inner) const
    {
        if (m_ring != nullptr) m_ring->AddScript(inner.first);
    }

    /** For a script without further information. */
    std::optional<std::vector<Made>> Plain(const Bytes& script) const
    {
        return std::vector{Made{script, PlainText(script)}};
    }
    std::string PlainText(const Bytes& script) const
    {
        if (!m_texts) return "";
        std::string text = InferDescriptor(script, m_network.addresses);
        text.resize(text.rfind('#'));
        return text;
    }

    /** For the script that a function makes of an inner one. */
    Made Around(const char* function, const Made& inner, const Bytes& script) const
    {
        if (inner.second.empty()) return {script, PlainText(script)};
        return {script, function + inner.second + ")"};
    }
    Made InScriptHash(const Made& inner) const
    {
        return Around("sh(", inner, ScriptHashScript(Hash160Bytes(inner.first)));
    }

    Made Miniscript(const DescriptorNode& node, const std::vector<DerivedKey>& keys) const
    {
        std::vector<Bytes> bytes;
        for (const DerivedKey& key : keys) {
            const XOnlyKey x = key.XOnly();
            bytes.push_back(node.context == Context::kTapscript ? Bytes(x.begin(), x.end())
                                                                : key.public_key);
        }
        Bytes script = ToScript(*node.miniscript, node.context, bytes);
        std::string text = m_texts ? MiniscriptText(script, node.context, bytes, keys) : "";
        return {std::move(script), std::move(text)};
    }

    static Made Leaf(const DerivedKey& key)
    {
        return {PushKeyCheck(key.XOnly()), "pk(" + key.ToString() + ")"};
    }

    std::optional<std::vector<Made>> Combo(const DerivedKey& key) const
    {
        std::vector<Made> out = {MadePk(key), MadePkh(key)};
        if (key.public_key.size() == 33) {
            out.push_back(MadeWpkh(key));
            NoteScript(out.back());
            out.push_back(InScriptHash(out.back()));
        }
        return out;
    }

    template <typename Wrap>
    std::optional<std::vector<Made>> Wrapped(const DescriptorNode& node, const Wrap& wrap) const
    {
        const auto inner = Expand(node.children[0], false);
        if (!inner) return std::nullopt;
        NoteScript((*inner)[0]);
        return std::vector{wrap((*inner)[0])};
    }

    std::optional<std::vector<Made>> Taproot(const DescriptorNode& node,
                                             const DerivedKey& internal) const
    {
        TaprootOutput output;
        output.internal_key = internal.XOnly();
        std::vector<std::string> texts;
        for (size_t i = 0; i < node.children.size(); ++i) {
            auto leaf = Expand(node.children[i], true);
            if (!leaf) return std::nullopt;
            auto& [script, text] = (*leaf)[0];
            output.leaves.push_back(
                {static_cast<uint8_t>(node.depths[i]), kLeafTapscript, std::move(script)});
            texts.push_back(std::move(text));
        }
        const auto key = output.Key();
        if (!key) return std::nullopt;
        const Bytes script = WitnessProgramScript(1, key->first);
        std::string text = TaprootText(script, internal, output, texts);
        if (m_ring != nullptr) m_ring->taproots[key->first] = std::move(output);
        return std::vector{Made{script, std::move(text)}};
    }

    /** `leaf_texts`: of the output's leaves. */
    std::string TaprootText(const Bytes& script, const DerivedKey& internal,
                            const TaprootOutput& output,
                            const std::vector<std::string>& leaf_texts) const
    {
        if (!m_texts || std::ranges::any_of(leaf_texts, &std::string::empty)) {
            return PlainText(script);
        }
        std::string text = "tr(" + internal.ToString();
        if (!leaf_texts.empty()) {
            std::vector<Bytes> paths = TapPaths(output.leaves);
            std::vector<LeafText> leaves;
            for (size_t i = 0; i < paths.size(); ++i) {
                leaves.push_back({&output.leaves[i], std::move(paths[i]), leaf_texts[i]});
            }
            size_t at = 0;
            std::vector<std::string> texts;
            std::vector<int> depths;
            for (LeafText& one : OrderedLeaves(leaves, at, 0)) {
                texts.push_back(std::move(one.text));
                depths.push_back(one.leaf->depth);
            }
            text += "," + TreeText(texts, depths);
        }
        return text + ")";
    }

    const DescriptorNetwork& m_network;
    uint32_t m_index;
    bool m_texts;
    KeyRing* m_ring;
    std::map<CompressedKey, SecretArray<32>> m_roots; //!< by the public key
};

} // namespace

Result<std::string_view> StripDescriptorChecksum(std::string_view text, bool required)
{
    const std::vector<std::string_view> parts = Split(text, '#');
    if (parts.size() > 2) return BadData("Multiple '#' symbols");
    if (parts.size() == 1 && required) return BadData("Missing checksum");
    if (parts.size() == 2 && parts[1].size() != 8) {
        return BadData("Expected 8 character checksum, not {} characters", parts[1].size());
    }
    const std::string checksum = DescriptorChecksum(parts[0]);
    if (checksum.empty()) return BadData("Invalid characters in payload");
    if (parts.size() == 2 && parts[1] != checksum) {
        return BadData("Provided checksum '{}' does not match computed checksum '{}'", parts[1],
                       checksum);
    }
    return parts[0];
}

std::string OutputDescriptor::ToString() const { return WithChecksum(NodeText(m_root, m_network)); }

bool OutputDescriptor::IsRange() const
{
    return AnyKey(m_root, [](const KeyExpression& key) { return key.IsRange(); });
}

bool OutputDescriptor::IsSolvable() const
{
    return m_root.kind != DescriptorKind::kAddress && m_root.kind != DescriptorKind::kRaw;
}

bool OutputDescriptor::HasPrivateKeys() const
{
    return AnyKey(m_root, [](const KeyExpression& key) { return key.HasSecret(); });
}

std::optional<std::vector<ExpandedScript>> OutputDescriptor::Expand(uint32_t index) const
{
    const auto made = Expander(m_network, index, true).Run(m_root);
    if (!made) return std::nullopt;
    std::vector<ExpandedScript> out;
    for (const auto& [script, text] : *made) out.push_back({script, WithChecksum(text)});
    return out;
}

std::optional<std::vector<Bytes>> OutputDescriptor::Scripts(uint32_t index) const
{
    auto made = Expander(m_network, index, false).Run(m_root);
    if (!made) return std::nullopt;
    std::vector<Bytes> out;
    for (Made& one : *made) out.push_back(std::move(one.first));
    return out;
}

bool OutputDescriptor::Collect(uint32_t index, KeyRing& ring) const
{
    return Expander(m_network, index, false, &ring).Run(m_root).has_value();
}

} // namespace ibd
