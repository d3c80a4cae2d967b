// Parses the functions of an output descriptor; see output_descriptor.h.
#include "keys/miniscript/brackets.h"
#include "keys/miniscript/script.h"
#include "keys/miniscript/text.h"
#include "keys/output_descriptor.h"

#include "script/taproot.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kMaxMultisigKeys = 20;
constexpr size_t kMaxBareMultisigKeys = 3;
constexpr size_t kMaxRedeemScript = 520;

/** The enclosing function. */
enum class Place { kTop, kSh, kWsh, kTaproot };

KeyPlace KeysOf(Place place)
{
    switch (place) {
    case Place::kTop:
    case Place::kSh: return KeyPlace::kAnyForm;
    case Place::kWsh: return KeyPlace::kCompressed;
    case Place::kTaproot: return KeyPlace::kTaproot;
    }
    return KeyPlace::kCompressed;
}

/** Turns a list of lists, each as long as the longest or of length one, into that many lists of one
 *  each. */
template <typename T>
std::optional<std::vector<std::vector<T>>> Transpose(const std::vector<std::vector<T>>& in,
                                                     size_t count)
{
    std::vector<std::vector<T>> out(count);
    for (const std::vector<T>& variants : in) {
        if (variants.size() != 1 && variants.size() != count) return std::nullopt;
        for (size_t i = 0; i < count; ++i) out[i].push_back(variants[variants.size() == 1 ? 0 : i]);
    }
    return out;
}

using Nodes = std::vector<DescriptorNode>;

class Parser {
public:
    explicit Parser(const DescriptorNetwork& network) : m_network(network) {}

    /** Parses one expression; `text` keeps the rest. */
    Result<Nodes> Parse(std::string_view& text, Place place)
    {
        std::string_view inner = TakeExpression(text);
        if (TakeFunction("pk", inner)) return OfOneKey(DescriptorKind::kPk, "pk()", inner, place);
        if (place != Place::kTaproot && TakeFunction("pkh", inner)) {
            return OfOneKey(DescriptorKind::kPkh, "pkh()", inner, place);
        }
        for (const Multi& multi : kMultis) {
            if (TakeFunction(multi.name, inner)) return ParseMulti(multi, inner, place);
        }
        if (TakeFunction("wpkh", inner)) return ParseWpkh(inner, place);
        if (TakeFunction("sh", inner)) return ParseSh(inner, place);
        if (TakeFunction("wsh", inner)) return ParseWsh(inner, place);
        for (const TopOnly& function : kTopOnly) {
            if (!TakeFunction(function.name, inner)) continue;
            if (place != Place::kTop) return BadData("{}", function.misplaced);
            return (this->*function.parse)(inner);
        }
        IBD_ASSIGN_OR_RETURN(Nodes nodes, ParseMiniscript(inner, place));
        if (!nodes.empty()) return nodes;
        if (place == Place::kSh) return BadData("A function is needed within P2SH");
        if (place == Place::kWsh) return BadData("A function is needed within P2WSH");
        return BadData("'{}' is not a valid descriptor function", inner);
    }

private:
    struct Multi {
        const char* name;
        DescriptorKind kind;
        bool in_taproot;
    };
    static constexpr Multi kMultis[] = {
        {"multi", DescriptorKind::kMulti, false},
        {"sortedmulti", DescriptorKind::kSortedMulti, false},
        {"multi_a", DescriptorKind::kMultiA, true},
        {"sortedmulti_a", DescriptorKind::kSortedMultiA, true},
    };
    struct TopOnly {
        const char* name;
        const char* misplaced;
        Result<Nodes> (Parser::*parse)(std::string_view);
    };
    static const TopOnly kTopOnly[6];

    Result<std::vector<KeyExpression>> Keys(std::string_view text, KeyPlace place,
                                            std::string_view function) const
    {
        auto keys = ParseKeyExpression(text, place, m_network);
        if (!keys) return BadData("{}: {}", function, keys.Message());
        return keys;
    }

    Result<Nodes> OfOneKey(DescriptorKind kind, std::string_view function, std::string_view text,
                           Place place) const
    {
        return OfOneKey(kind, function, text, KeysOf(place));
    }

    Result<Nodes> OfOneKey(DescriptorKind kind, std::string_view function, std::string_view text,
                           KeyPlace place) const
    {
        IBD_ASSIGN_OR_RETURN(auto keys, Keys(text, place, function));
        return NodesOf(kind, &DescriptorNode::keys, std::move(keys));
    }

    /** A node for each part, which is the only one in `field`. */
    template <typename Part>
    static Nodes NodesOf(DescriptorKind kind, std::vector<Part> DescriptorNode::*field,
                         std::vector<Part> parts)
    {
        Nodes out;
        for (Part& part : parts) {
            DescriptorNode node;
            node.kind = kind;
            (node.*field).push_back(std::move(part));
            out.push_back(std::move(node));
        }
        return out;
    }

    Result<Nodes> ParseMulti(const Multi& multi, std::string_view text, Place place) const
    {
        if (!multi.in_taproot && place == Place::kTaproot) {
            return BadData("Can only have multi/sortedmulti at top level, in sh(), or in wsh()");
        }
        if (multi.in_taproot && place != Place::kTaproot) {
            return BadData("Can only have multi_a/sortedmulti_a inside tr()");
        }
        const std::string_view number = TakeExpression(text);
        const auto threshold = ParseInteger<uint32_t>(number);
        if (!threshold) return BadData("Multi threshold '{}' is not valid", number);
        std::vector<std::vector<KeyExpression>> keys;
        size_t script_size = 3; // threshold, number of keys, OP_CHECKMULTISIG
        size_t variants = 0;
        while (!text.empty()) {
            if (!TakeCharacter(',', text)) {
                return BadData("Multi: expected ',', got '{}'", text[0]);
            }
            const std::string_view one = TakeExpression(text);
            IBD_ASSIGN_OR_RETURN(auto parsed, Keys(one, KeysOf(place), "Multi"));
            script_size += parsed[0].Size() + 1;
            variants = std::max(variants, parsed.size());
            keys.push_back(std::move(parsed));
        }
        IBD_RETURN_IF_ERROR(CheckMulti(multi, *threshold, keys.size(), script_size, place));
        const auto sets = Transpose(keys, variants);
        if (!sets) return BadData("multi(): Multipath derivation paths have mismatched lengths");
        Nodes out;
        for (const auto& set : *sets) {
            DescriptorNode node;
            node.kind = multi.kind;
            node.threshold = *threshold;
            node.keys = set;
            out.push_back(std::move(node));
        }
        return out;
    }

    static Result<> CheckMulti(const Multi& multi, uint32_t threshold, size_t keys,
                               size_t script_size, Place place)
    {
        const size_t most = multi.in_taproot ? miniscript::kMaxKeysOfMultiA : kMaxMultisigKeys;
        if (keys == 0 || keys > most) {
            return BadData("Cannot have {} keys in {}; must have between 1 and {} keys, inclusive",
                           keys, multi.in_taproot ? "multi_a" : "multisig", most);
        }
        if (threshold < 1) {
            return BadData("Multisig threshold cannot be {}, must be at least 1", threshold);
        }
        if (threshold > keys) {
            return BadData("Multisig threshold cannot be larger than the number of keys; threshold "
                           "is {} but only {} keys specified",
                           threshold, keys);
        }
        if (place == Place::kTop && keys > kMaxBareMultisigKeys) {
            return BadData("Cannot have {} pubkeys in bare multisig; only at most 3 pubkeys", keys);
        }
        if (place == Place::kSh && script_size > kMaxRedeemScript) {
            return BadData("P2SH script is too large, {} bytes is larger than {} bytes",
                           script_size, kMaxRedeemScript);
        }
        return {};
    }

    Result<Nodes> ParseWpkh(std::string_view text, Place place) const
    {
        if (place != Place::kTop && place != Place::kSh) {
            return BadData("Can only have wpkh() at top level or inside sh()");
        }
        return OfOneKey(DescriptorKind::kWpkh, "wpkh()", text, KeyPlace::kCompressed);
    }

    Result<Nodes> ParseSh(std::string_view text, Place place)
    {
        if (place != Place::kTop) return BadData("Can only have sh() at top level");
        return Wrapped(DescriptorKind::kSh, text, Place::kSh);
    }

    Result<Nodes> ParseWsh(std::string_view text, Place place)
    {
        if (place != Place::kTop && place != Place::kSh) {
            return BadData("Can only have wsh() at top level or inside sh()");
        }
        return Wrapped(DescriptorKind::kWsh, text, Place::kWsh);
    }

    Result<Nodes> Wrapped(DescriptorKind kind, std::string_view text, Place place)
    {
        IBD_ASSIGN_OR_RETURN(Nodes inner, Parse(text, place));
        if (!text.empty()) return BadData("{}", "");
        return NodesOf(kind, &DescriptorNode::children, std::move(inner));
    }

    Result<Nodes> ParseCombo(std::string_view text)
    {
        return OfOneKey(DescriptorKind::kCombo, "combo()", text, KeyPlace::kAnyForm);
    }

    Result<Nodes> ParseAddress(std::string_view text)
    {
        const auto script = DecodeAddress(text, m_network.addresses);
        if (!script) return BadData("Address is not valid");
        DescriptorNode node;
        node.kind = DescriptorKind::kAddress;
        node.script = *script;
        return Nodes{std::move(node)};
    }

    Result<Nodes> ParseRaw(std::string_view text)
    {
        const auto script = FromHex(text);
        if (!script || script->empty()) return BadData("Raw script is not hex");
        DescriptorNode node;
        node.kind = DescriptorKind::kRaw;
        node.script = *script;
        return Nodes{std::move(node)};
    }

    /** None if it is no miniscript. */
    Result<Nodes> ParseMiniscript(std::string_view text, Place place) const
    {
        const bool wsh = place == Place::kWsh;
        const auto context = wsh ? miniscript::Context::kWsh : miniscript::Context::kTapscript;
        std::vector<std::vector<KeyExpression>> keys;
        std::string key_error;
        const auto read_key = [&](std::string_view one) {
            auto key = ParseKeyExpression(one, wsh ? KeyPlace::kCompressed : KeyPlace::kTaproot,
                                          m_network);
            if (!key) {
                key_error = key.Message();
                return false;
            }
            keys.push_back(std::move(key).Value());
            return true;
        };
        auto root = miniscript::Parse(text, context, read_key);
        if (!key_error.empty()) return BadData("{}", key_error);
        if (!root) return Nodes();
        if (!wsh && place != Place::kTaproot) {
            return BadData("Miniscript expressions can only be used in wsh or tr.");
        }
        IBD_RETURN_IF_ERROR(CheckMiniscript(*root, context, keys));
        size_t variants = 0;
        for (const auto& key : keys) variants = std::max(variants, key.size());
        const auto sets = Transpose(keys, variants);
        if (!sets) {
            return BadData("Miniscript: Multipath derivation paths have mismatched lengths");
        }
        const auto shared = std::make_shared<const miniscript::Node>(std::move(*root));
        Nodes out;
        for (const auto& set : *sets) {
            DescriptorNode node;
            node.kind = DescriptorKind::kMiniscript;
            node.keys = set;
            node.miniscript = shared;
            node.context = context;
            out.push_back(std::move(node));
        }
        return out;
    }

    static KeyExpression WithoutSecrets(KeyExpression key)
    {
        key.root.secret.reset();
        for (KeyExpression& one : key.participants) one = WithoutSecrets(std::move(one));
        return key;
    }

    /** Keys are compared at the first position of their range. As in Core, all keys that need a
     *  secret for that are taken for the same key. */
    Result<> CheckMiniscript(const miniscript::Node& root, miniscript::Context context,
                             const std::vector<std::vector<KeyExpression>>& keys) const
    {
        std::vector<std::optional<Bytes>> first_keys;
        for (const auto& key : keys) {
            const auto derived = WithoutSecrets(key[0]).At(0);
            first_keys.push_back(derived ? std::optional(derived->public_key) : std::nullopt);
        }
        const auto found = FindFault(root, context, miniscript::FirstEqual(first_keys));
        if (found.fault == miniscript::Fault::kNone) return {};
        const std::string text = ToText(
            *found.where, context, [&](uint32_t key) { return keys[key][0].ToString(m_network); });
        return BadData("{}{}", text, MiniscriptFault(found.fault));
    }

    static const char* MiniscriptFault(miniscript::Fault fault)
    {
        switch (fault) {
        case miniscript::Fault::kInvalid: return " is invalid";
        case miniscript::Fault::kMalleable: return " is not sane: malleable witnesses exist";
        case miniscript::Fault::kUnsigned: return " is not sane: witnesses without signature exist";
        case miniscript::Fault::kMixedLocks:
            return " is not sane: contains mixes of timelocks expressed in blocks and seconds";
        case miniscript::Fault::kRepeatedKey: return " is not sane: contains duplicate public keys";
        case miniscript::Fault::kTooExpensive:
            return " is not sane: needs witnesses that may exceed resource limits";
        case miniscript::Fault::kUnsatisfiable: return " is not satisfiable";
        case miniscript::Fault::kNoCondition:
        case miniscript::Fault::kNone: break;
        }
        return " is not sane";
    }

    Result<Nodes> ParseRawTaproot(std::string_view text)
    {
        const std::string_view key = TakeExpression(text);
        if (!text.empty()) return BadData("rawtr(): only one key expected.");
        return OfOneKey(DescriptorKind::kRawTaproot, "rawtr()", key, KeyPlace::kTaproot);
    }

    Result<Nodes> ParseUnused(std::string_view text)
    {
        const std::string_view key = TakeExpression(text);
        if (!text.empty()) return BadData("unused(): only one key expected");
        IBD_ASSIGN_OR_RETURN(auto keys, ParseKeyExpression(key, KeyPlace::kAnyForm, m_network));
        for (const KeyExpression& one : keys) {
            if (one.IsRange()) return BadData("unused(): key cannot be ranged");
        }
        return NodesOf(DescriptorKind::kUnused, &DescriptorNode::keys, std::move(keys));
    }

    Result<Nodes> ParseTaproot(std::string_view text)
    {
        const std::string_view key = TakeExpression(text);
        IBD_ASSIGN_OR_RETURN(const auto internal, Keys(key, KeyPlace::kTaproot, "tr()"));
        std::vector<Nodes> leaves;
        std::vector<int> depths;
        if (!text.empty()) {
            if (!TakeCharacter(',', text)) {
                return BadData("tr: expected ',', got '{}'", text[0]);
            }
            IBD_RETURN_IF_ERROR(ParseTree(text, leaves, depths));
        }
        size_t variants = internal.size();
        for (const Nodes& leaf : leaves) variants = std::max(variants, leaf.size());
        const auto sets = Transpose(leaves, variants);
        if (!sets) return BadData("tr(): Multipath subscripts have mismatched lengths");
        if (internal.size() > 1 && internal.size() != variants) {
            return BadData("tr(): Multipath internal key mismatches multipath subscripts lengths");
        }
        Nodes out;
        for (size_t i = 0; i < variants; ++i) {
            DescriptorNode node;
            node.kind = DescriptorKind::kTaproot;
            node.keys.push_back(internal[internal.size() == 1 ? 0 : i]);
            node.children = (*sets)[i];
            node.depths = depths;
            out.push_back(std::move(node));
        }
        return out;
    }

    /** A leaf, or "{left,right}" of any depth, without recursion. */
    Result<> ParseTree(std::string_view& text, std::vector<Nodes>& leaves, std::vector<int>& depths)
    {
        std::vector<bool> in_right; // for each open brace: whether its comma has passed
        do {
            while (TakeCharacter('{', text)) {
                in_right.push_back(false);
                if (in_right.size() > kMaxTapTreeDepth) {
                    return BadData("tr() supports at most {} nesting levels", kMaxTapTreeDepth);
                }
            }
            std::string_view leaf = TakeExpression(text);
            IBD_ASSIGN_OR_RETURN(Nodes parsed, Parse(leaf, Place::kTaproot));
            leaves.push_back(std::move(parsed));
            depths.push_back(static_cast<int>(in_right.size()));
            while (!in_right.empty() && in_right.back()) {
                if (!TakeCharacter('}', text)) {
                    return BadData("tr(): expected '}}' after script expression");
                }
                in_right.pop_back();
            }
            if (!in_right.empty()) {
                if (!TakeCharacter(',', text)) {
                    return BadData("tr(): expected ',' after script expression");
                }
                in_right.back() = true;
            }
        } while (!in_right.empty());
        if (!text.empty()) return BadData("tr(): expected ')' after script expression");
        return {};
    }

    const DescriptorNetwork& m_network;
};

const Parser::TopOnly Parser::kTopOnly[6] = {
    {"combo", "Can only have combo() at top level", &Parser::ParseCombo},
    {"addr", "Can only have addr() at top level", &Parser::ParseAddress},
    {"tr", "Can only have tr at top level", &Parser::ParseTaproot},
    {"rawtr", "Can only have rawtr at top level", &Parser::ParseRawTaproot},
    {"unused", "Can only have unused at top level", &Parser::ParseUnused},
    {"raw", "Can only have raw() at top level", &Parser::ParseRaw},
};

Result<Nodes> ParseNodes(std::string_view text, const DescriptorNetwork& network)
{
    IBD_ASSIGN_OR_RETURN(Nodes nodes, Parser(network).Parse(text, Place::kTop));
    if (!text.empty()) return BadData("{}", "");
    return nodes;
}

} // namespace

Result<std::vector<OutputDescriptor>> OutputDescriptor::Parse(std::string_view text,
                                                              const DescriptorNetwork& network,
                                                              bool require_checksum)
{
    IBD_ASSIGN_OR_RETURN(const std::string_view body,
                         StripDescriptorChecksum(text, require_checksum));
    IBD_ASSIGN_OR_RETURN(Nodes nodes, ParseNodes(body, network));
    std::vector<OutputDescriptor> out;
    for (DescriptorNode& node : nodes) out.push_back(OutputDescriptor(std::move(node), network));
    return out;
}

} // namespace ibd
