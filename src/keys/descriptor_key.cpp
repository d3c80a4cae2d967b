// See descriptor_key.h.
#include "keys/descriptor_key.h"

#include "crypto/musig_keys.h"
#include "keys/miniscript/brackets.h"
#include "util/hex.h"
#include "util/strings.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

namespace ibd {

namespace {

/** In the extended key of an aggregate (BIP328). */
constexpr const char* kAggregateChainCode =
    "868087ca02a6f974c4598924c36b57762d32cb45717167e300622c7167e38965";

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/** Parses the steps of paths, and remembers their common properties. */
class PathParser {
public:
    explicit PathParser(bool& apostrophe) : m_apostrophe(apostrophe) {}

    /** One path, or one for each value of the step in angle brackets. */
    Result<std::vector<KeyPath>> Parse(std::span<const std::string_view> steps, bool multipath)
    {
        KeyPath path;
        std::optional<size_t> branch_at;
        KeyPath values;
        for (const std::string_view step : steps) {
            if (step.empty() || step.front() != '<' || step.back() != '>') {
                IBD_ASSIGN_OR_RETURN(const uint32_t number, Number(step));
                path.push_back(number);
                continue;
            }
            if (!multipath) {
                return BadData("Key path value '{}' specifies multipath in a section where "
                               "multipath is not allowed",
                               step);
            }
            if (branch_at) return BadData("Multiple multipath key path specifiers found");
            IBD_ASSIGN_OR_RETURN(values, Values(step));
            branch_at = path.size();
            path.push_back(0);
        }
        if (!branch_at) return std::vector<KeyPath>{path};
        std::vector<KeyPath> paths(values.size(), path);
        for (size_t i = 0; i < values.size(); ++i) paths[i][*branch_at] = values[i];
        return paths;
    }

private:
    Result<uint32_t> Number(std::string_view step)
    {
        bool hardened = false;
        if (!step.empty() && (step.back() == '\'' || step.back() == 'h')) {
            hardened = true;
            m_apostrophe = step.back() == '\'';
            step.remove_suffix(1);
        }
        const auto number = ParseInteger<uint32_t>(step);
        if (!number) return BadData("Key path value '{}' is not a valid uint32", step);
        if (*number >= kHardenedBit) return BadData("Key path value {} is out of range", *number);
        return *number | (hardened ? kHardenedBit : 0);
    }

    /** "<0;1>": at least two values, none twice. */
    Result<KeyPath> Values(std::string_view step)
    {
        // '<' alone and "<>" have empty brackets.
        const auto inner = step.size() < 2 ? std::string_view() : step.substr(1, step.size() - 2);
        const auto parts = Split(inner, ';');
        if (parts.size() < 2) {
            return BadData("Multipath key path specifiers must have at least two items");
        }
        KeyPath values;
        std::unordered_set<uint32_t> seen;
        for (const std::string_view part : parts) {
            IBD_ASSIGN_OR_RETURN(const uint32_t number, Number(part));
            if (!seen.insert(number).second) {
                return BadData("Duplicated key path value {} in multipath specifier", number);
            }
            values.push_back(number);
        }
        return values;
    }

    bool& m_apostrophe;
};

Result<KeyExpression> FixedKey(const std::string& hex, const Bytes& bytes, KeyPlace place)
{
    KeyExpression key;
    const bool hybrid = bytes.size() == 65 && (bytes[0] == 6 || bytes[0] == 7);
    if (hybrid) return BadData("Hybrid public keys are not allowed");
    if (HasPubkeyShape(bytes) && IsValidPublicKey(bytes)) {
        if (bytes.size() == 65 && place != KeyPlace::kAnyForm) {
            return BadData("Uncompressed keys are not allowed");
        }
        key.fixed = bytes;
        return key;
    }
    if (bytes.size() == 32 && place == KeyPlace::kTaproot) {
        key.fixed = {2};
        Append(key.fixed, bytes);
        key.x_only = true;
        if (IsValidPublicKey(key.fixed)) return key;
    }
    return BadData("Pubkey '{}' is invalid", hex);
}

Result<KeyExpression> FromSecret(const SecretKey& secret, KeyPlace place)
{
    if (!secret.compressed && place != KeyPlace::kAnyForm) {
        return BadData("Uncompressed keys are not allowed");
    }
    KeyExpression key;
    const Signer signer;
    if (secret.compressed) {
        Append(key.fixed, signer.PublicKey(secret.bytes));
    } else {
        Append(key.fixed, signer.UncompressedPublicKey(secret.bytes));
    }
    key.x_only = place == KeyPlace::kTaproot;
    key.secret = secret;
    return key;
}

/** Removes the last step "*", "*h" or "*'". */
KeyExpression::Range TakeRange(std::vector<std::string_view>& steps, bool& apostrophe)
{
    const std::string_view last = steps.back();
    if (last != "*" && last != "*h" && last != "*'") return KeyExpression::Range::kNone;
    steps.pop_back();
    if (last == "*") return KeyExpression::Range::kNormal;
    apostrophe = last == "*'";
    return KeyExpression::Range::kHardened;
}

/** Parses the part after the origin. */
Result<std::vector<KeyExpression>> ParseKey(std::string_view text, KeyPlace place, bool& apostrophe,
                                            const DescriptorNetwork& network)
{
    std::vector<std::string_view> steps = Split(text, '/');
    const std::string word(steps[0]);
    if (word.empty()) return BadData("No key provided");
    if (IsSpace(word.front()) || IsSpace(word.back())) {
        return BadData("Key '{}' is invalid due to whitespace", word);
    }
    if (steps.size() == 1) {
        if (const auto bytes = FromHex(word)) {
            IBD_ASSIGN_OR_RETURN(KeyExpression key, FixedKey(word, *bytes, place));
            return std::vector<KeyExpression>{std::move(key)};
        }
        if (const auto secret = DecodeSecretKey(word, network.secret_key_prefix)) {
            IBD_ASSIGN_OR_RETURN(KeyExpression key, FromSecret(*secret, place));
            return std::vector<KeyExpression>{std::move(key)};
        }
    }
    const auto root = DecodeExtendedKey(word, network.extended_keys);
    if (!root) return BadData("key '{}' is not valid", word);
    KeyExpression key;
    key.root = *root;
    key.range = TakeRange(steps, apostrophe);
    IBD_ASSIGN_OR_RETURN(const std::vector<KeyPath> paths,
                         PathParser(apostrophe).Parse(std::span(steps).subspan(1), true));
    std::vector<KeyExpression> keys(paths.size(), key);
    for (size_t i = 0; i < paths.size(); ++i) keys[i].path = paths[i];
    return keys;
}

/** Parses "[d34db33f/44h/0h", without its closing bracket. */
Result<KeyOrigin> ParseOrigin(std::string_view text, bool& apostrophe)
{
    if (text.empty() || text[0] != '[') {
        return BadData("Key origin start '[ character expected but not found, got '{}' instead",
                       text.empty() ? ']' : text[0]);
    }
    const std::vector<std::string_view> steps = Split(text.substr(1), '/');
    const std::string_view fingerprint = steps[0];
    if (fingerprint.size() != 8) {
        return BadData("Fingerprint is not 4 bytes ({} characters instead of 8 characters)",
                       fingerprint.size());
    }
    const auto bytes = FromHex(fingerprint);
    if (!bytes) return BadData("Fingerprint '{}' is not hex", fingerprint);
    IBD_ASSIGN_OR_RETURN(const std::vector<KeyPath> paths,
                         PathParser(apostrophe).Parse(std::span(steps).subspan(1), false));
    KeyOrigin origin;
    std::copy(bytes->begin(), bytes->end(), origin.fingerprint.begin());
    origin.path = paths[0];
    return origin;
}

/** Parses "musig(KEY,KEY,...)", which a path may follow. */
class MusigParser {
public:
    explicit MusigParser(const DescriptorNetwork& network) : m_network(network) {}

    Result<std::vector<KeyExpression>> Parse(std::string_view text, KeyPlace place)
    {
        if (place != KeyPlace::kTaproot) {
            return BadData("musig() is only allowed in tr() and rawtr()");
        }
        if (std::ranges::count(text, ')') > 1) {
            return BadData("Too many ')' in musig() expression");
        }
        const size_t end = text.find(')');
        if (end == text.npos) return BadData("Invalid musig() expression");
        constexpr std::string_view kBegin = "musig(";
        IBD_RETURN_IF_ERROR(ParseParticipants(text.substr(kBegin.size(), end - kBegin.size())));
        KeyExpression key;
        std::vector<KeyPath> paths(1);
        if (text.substr(end + 1).starts_with('/')) {
            IBD_ASSIGN_OR_RETURN(paths, ParseDerivation(text.substr(end + 1), key.range));
        }
        if (m_variants > 1 && paths.size() > 1) {
            return BadData(
                "musig(): Cannot have multipath participant keys if musig() is also multipath");
        }
        std::vector<KeyExpression> out;
        for (size_t i = 0; i < std::max(m_variants, paths.size()); ++i) {
            key.path = paths[paths.size() == 1 ? 0 : i];
            key.participants.clear();
            for (const auto& one : m_participants) {
                if (one.size() != 1 && one.size() != m_variants) {
                    return BadData("musig(): Multipath derivation paths have mismatched lengths");
                }
                key.participants.push_back(one[one.size() == 1 ? 0 : i]);
            }
            out.push_back(key);
        }
        return out;
    }

private:
    Result<> ParseParticipants(std::string_view text)
    {
        while (!text.empty()) {
            if (!m_participants.empty() && !TakeCharacter(',', text)) {
                return BadData("musig(): expected ',', got '{}'", text[0]);
            }
            auto keys = ParseKeyExpression(TakeExpression(text), KeyPlace::kCompressed, m_network);
            if (!keys) return BadData("musig(): {}", keys.Message());
            m_variants = std::max(m_variants, keys->size());
            m_participants.push_back(std::move(keys).Value());
        }
        if (m_participants.empty()) return BadData("musig(): Must contain key expressions");
        return {};
    }

    /** The paths after the bracket: one, or one for each value of a step "<0;1>". */
    Result<std::vector<KeyPath>> ParseDerivation(std::string_view text,
                                                 KeyExpression::Range& range) const
    {
        const auto first = [](const auto& keys) -> const KeyExpression& { return keys[0]; };
        if (std::ranges::any_of(m_participants,
                                [&](const auto& keys) { return !first(keys).fixed.empty(); })) {
            return BadData("musig(): derivation requires all participants to be xpubs or xprvs");
        }
        if (std::ranges::any_of(m_participants,
                                [&](const auto& keys) { return first(keys).IsRange(); })) {
            return BadData(
                "musig(): Cannot have ranged participant keys if musig() also has derivation");
        }
        bool apostrophe = false;
        std::vector<std::string_view> steps = Split(text, '/');
        range = TakeRange(steps, apostrophe);
        if (range == KeyExpression::Range::kHardened) {
            return BadData("musig(): Cannot have hardened child derivation");
        }
        auto paths = PathParser(apostrophe).Parse(std::span(steps).subspan(1), true);
        if (!paths) return BadData("musig(): {}", paths.Message());
        for (const KeyPath& path : *paths) {
            if (std::ranges::any_of(path, [](uint32_t step) { return step >= kHardenedBit; })) {
                return BadData("musig(): cannot have hardened derivation steps");
            }
        }
        return paths;
    }

    const DescriptorNetwork& m_network;
    std::vector<std::vector<KeyExpression>> m_participants;
    size_t m_variants = 1; //!< the most of a participant
};

std::string OriginText(const KeyOrigin& origin, bool apostrophe)
{
    return "[" + ToHex(origin.fingerprint) + FormatKeyPath(origin.path, apostrophe) + "]";
}

std::string FixedText(ByteSpan key, bool x_only) { return ToHex(x_only ? key.subspan(1) : key); }

} // namespace

XOnlyKey DerivedKey::XOnly() const
{
    XOnlyKey out;
    std::copy_n(public_key.begin() + 1, out.size(), out.begin());
    return out;
}

std::string DerivedKey::ToString() const
{
    return OriginText(origin, false) + FixedText(public_key, x_only);
}

bool KeyExpression::IsRange() const
{
    return range != Range::kNone || std::ranges::any_of(participants, &KeyExpression::IsRange);
}

bool KeyExpression::HasSecret() const
{
    return secret.has_value() || root.secret.has_value() ||
           std::ranges::any_of(participants, &KeyExpression::HasSecret);
}

std::string KeyExpression::ToString(const DescriptorNetwork& network) const
{
    std::string out = origin ? OriginText(*origin, apostrophe) : "";
    if (!fixed.empty()) return out + FixedText(fixed, x_only);
    if (participants.empty()) {
        out += EncodeExtendedPublicKey(root, network.extended_keys);
    } else {
        std::string inner;
        for (const KeyExpression& one : participants) {
            inner += (inner.empty() ? "" : ",") + one.ToString(network);
        }
        out += "musig(" + inner + ")";
    }
    out += FormatKeyPath(path, apostrophe);
    if (range != Range::kNone) out += "/*";
    if (range == Range::kHardened) out += apostrophe ? '\'' : 'h';
    return out;
}

DerivedKey KeyExpression::Fixed(const Bytes& key) const
{
    DerivedKey out;
    out.public_key = key;
    out.x_only = x_only;
    out.origin = origin.value_or(KeyOrigin{FingerprintOf(key), {}});
    out.secret = secret;
    return out;
}

std::optional<DerivedKey> KeyExpression::DerivedFrom(const ExtendedKey& from, uint32_t index) const
{
    KeyPath whole = path;
    if (range != Range::kNone) {
        whole.push_back(index | (range == Range::kHardened ? kHardenedBit : 0));
    }
    const auto child = DerivePath(from, whole);
    if (!child) return std::nullopt;
    DerivedKey out;
    out.public_key.assign(child->public_key.begin(), child->public_key.end());
    out.origin = origin.value_or(KeyOrigin{FingerprintOf(from.public_key), {}});
    if (child->secret) out.secret = SecretKey{*child->secret, true};
    out.origin.path.insert(out.origin.path.end(), whole.begin(), whole.end());
    return out;
}

/** Sorted participants (BIP390), and if there is a path the extended key of BIP328. */
std::optional<DerivedKey> KeyExpression::AggregateAt(uint32_t index) const
{
    std::vector<DerivedKey> parts;
    std::vector<CompressedKey> keys(participants.size());
    for (size_t i = 0; i < participants.size(); ++i) {
        auto part = participants[i].At(index);
        if (!part) return std::nullopt;
        std::ranges::copy(part->public_key, keys[i].begin());
        parts.push_back(std::move(*part));
    }
    std::ranges::sort(keys);
    const auto aggregate = AggregateKeys(keys);
    if (!aggregate) return std::nullopt;
    std::optional<DerivedKey> out;
    if (path.empty() && range == Range::kNone) {
        out = Fixed(Bytes(aggregate->begin(), aggregate->end()));
    } else {
        ExtendedKey from;
        from.public_key = *aggregate;
        std::ranges::copy(*FromHex(kAggregateChainCode), from.chain_code.begin());
        out = DerivedFrom(from, index);
    }
    if (out) out->participants = std::move(parts);
    return out;
}

std::optional<DerivedKey> KeyExpression::At(uint32_t index) const
{
    if (!participants.empty()) return AggregateAt(index);
    return fixed.empty() ? DerivedFrom(root, index) : Fixed(fixed);
}

Result<std::vector<KeyExpression>> ParseKeyExpression(std::string_view text, KeyPlace place,
                                                      const DescriptorNetwork& network)
{
    if (text.starts_with("musig(")) return MusigParser(network).Parse(text, place);
    const std::vector<std::string_view> parts = Split(text, ']');
    if (parts.size() > 2) {
        return BadData("Multiple ']' characters found for a single pubkey");
    }
    bool apostrophe = false;
    std::optional<KeyOrigin> origin;
    if (parts.size() == 2) {
        IBD_ASSIGN_OR_RETURN(origin, ParseOrigin(parts[0], apostrophe));
    }
    IBD_ASSIGN_OR_RETURN(std::vector<KeyExpression> keys,
                         ParseKey(parts.back(), place, apostrophe, network));
    for (KeyExpression& key : keys) {
        key.origin = origin;
        key.apostrophe = apostrophe;
    }
    return keys;
}

} // namespace ibd
