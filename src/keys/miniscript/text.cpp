// See text.h.
#include "keys/miniscript/text.h"

#include "keys/miniscript/brackets.h"
#include "keys/miniscript/script.h"
#include "script/script.h"
#include "util/hex.h"
#include "util/strings.h"

#include <utility>

namespace ibd::miniscript {

namespace {

/** Functions whose arguments are expressions. */
struct Combination {
    std::string_view begin; //!< its name and bracket
    Fragment fragment;
    size_t arguments;
};
constexpr Combination kCombinations[] = {
    {"andor(", Fragment::kAndOr, 3}, {"and_n(", Fragment::kAndOr, 2}, // the third is 0
    {"and_b(", Fragment::kAndB, 2},  {"and_v(", Fragment::kAndV, 2},  {"or_b(", Fragment::kOrB, 2},
    {"or_c(", Fragment::kOrC, 2},    {"or_d(", Fragment::kOrD, 2},    {"or_i(", Fragment::kOrI, 2},
};

struct HashFunction {
    std::string_view begin;
    Fragment fragment;
    size_t size; //!< bytes
};
constexpr HashFunction kHashes[] = {
    {"sha256(", Fragment::kSha256, 32},
    {"ripemd160(", Fragment::kRipemd160, 20},
    {"hash256(", Fragment::kHash256, 32},
    {"hash160(", Fragment::kHash160, 20},
};

class Parser {
public:
    Parser(std::string_view text, Context context, const KeyReader& read_key)
        : m_text(text), m_context(context), m_read_key(read_key)
    {
    }

    bool AtEnd() const { return m_text.empty(); }

    /** Reads an expression with its wrappers. Also returns nothing if the script would be too long:
     *  otherwise a long text would take memory for all its nodes. */
    std::optional<Node> Expression()
    {
        if (m_script_size > MaxScriptSize(m_context)) return std::nullopt;
        const std::string_view wrappers = TakeWrappers();
        const size_t depth = m_depth;
        m_depth += wrappers.size() + 1;
        if (m_depth > kMaxDepth || wrappers.find("vv") != wrappers.npos) return std::nullopt;
        auto node = Unwrapped();
        m_depth = depth;
        for (auto wrapper = wrappers.rbegin(); node && wrapper != wrappers.rend(); ++wrapper) {
            node = Wrapped(*wrapper, std::move(*node));
        }
        return node;
    }

private:
    bool Take(std::string_view begin)
    {
        if (!m_text.starts_with(begin)) return false;
        m_text.remove_prefix(begin.size());
        return true;
    }

    /** The text before the next `end`, which is taken too; nothing: it is empty, or a bracket is
     *  closed before. */
    std::optional<std::string_view> TakeUpTo(char end)
    {
        const size_t at = m_text.find_first_of(end == ')' ? ")" : ",)");
        if (at == m_text.npos || m_text[at] != end || at == 0) return std::nullopt;
        const std::string_view out = m_text.substr(0, at);
        m_text.remove_prefix(at + 1);
        return out;
    }

    /** The letters before a colon, which is taken too. */
    std::string_view TakeWrappers()
    {
        size_t end = 1;
        while (end < m_text.size() && m_text[end] >= 'a' && m_text[end] <= 'z') ++end;
        if (end >= m_text.size() || m_text[end] != ':') return {};
        const std::string_view out = m_text.substr(0, end);
        m_text.remove_prefix(end + 1);
        return out;
    }

    Node Completed(Node node)
    {
        Complete(node, m_context);
        m_script_size += node.script_size;
        for (const Node& sub : node.subs) m_script_size -= sub.script_size;
        return node;
    }
    template <typename... Subs>
    Node Made(Fragment fragment, Subs&&... subs)
    {
        Node node{.fragment = fragment};
        (node.subs.push_back(std::forward<Subs>(subs)), ...);
        return Completed(std::move(node));
    }

    std::optional<Node> Wrapped(char wrapper, Node node)
    {
        switch (wrapper) {
        case 'a': return Made(Fragment::kWrapA, std::move(node));
        case 's': return Made(Fragment::kWrapS, std::move(node));
        case 'c': return Made(Fragment::kWrapC, std::move(node));
        case 'd': return Made(Fragment::kWrapD, std::move(node));
        case 'j': return Made(Fragment::kWrapJ, std::move(node));
        case 'n': return Made(Fragment::kWrapN, std::move(node));
        case 'v': return Made(Fragment::kWrapV, std::move(node));
        case 't': return Made(Fragment::kAndV, std::move(node), Made(Fragment::kTrue));
        case 'u': return Made(Fragment::kOrI, std::move(node), Made(Fragment::kFalse));
        case 'l': return Made(Fragment::kOrI, Made(Fragment::kFalse), std::move(node));
        default: return std::nullopt;
        }
    }

    std::optional<Node> Unwrapped()
    {
        if (Take("0")) return Made(Fragment::kFalse);
        if (Take("1")) return Made(Fragment::kTrue);
        for (const auto& [name, fragment, check] :
             {std::tuple{"pk", Fragment::kKey, true}, std::tuple{"pkh", Fragment::kKeyHash, true},
              std::tuple{"pk_k", Fragment::kKey, false},
              std::tuple{"pk_h", Fragment::kKeyHash, false}}) {
            if (IsCall(name)) return KeyCall(name, fragment, check);
        }
        for (const HashFunction& hash : kHashes) {
            if (Take(hash.begin)) return Hash(hash);
        }
        if (Take("after(")) return Lock(Fragment::kAfter);
        if (Take("older(")) return Lock(Fragment::kOlder);
        if (Take("multi(")) return m_context == Context::kWsh ? Multi() : std::nullopt;
        if (Take("multi_a(")) return m_context == Context::kTapscript ? Multi() : std::nullopt;
        if (Take("thresh(")) return Thresh();
        for (const Combination& one : kCombinations) {
            if (Take(one.begin)) return Combined(one);
        }
        return std::nullopt;
    }

    bool IsCall(std::string_view name) const
    {
        return m_text.starts_with(name) && m_text.substr(name.size()).starts_with('(');
    }

    std::optional<Node> KeyCall(std::string_view name, Fragment fragment, bool check)
    {
        std::string_view inner = ibd::TakeExpression(m_text);
        if (!TakeFunction(name, inner) || !m_read_key(inner)) return std::nullopt;
        Node node = Completed({.fragment = fragment, .keys = {m_keys++}});
        return check ? Made(Fragment::kWrapC, std::move(node)) : std::move(node);
    }

    std::optional<Node> Hash(const HashFunction& function)
    {
        const auto text = TakeUpTo(')');
        auto hash = text ? FromHex(*text) : std::nullopt;
        if (!hash || hash->size() != function.size) return std::nullopt;
        return Completed({.fragment = function.fragment, .hash = std::move(*hash)});
    }

    std::optional<Node> Lock(Fragment fragment)
    {
        const auto text = TakeUpTo(')');
        const auto number = text ? ParseInteger<int64_t>(*text) : std::nullopt;
        if (!number || *number < 1 || *number > kMaxLock) return std::nullopt;
        return Completed({.fragment = fragment, .number = static_cast<uint32_t>(*number)});
    }

    std::optional<Node> Multi()
    {
        const auto text = TakeUpTo(',');
        const auto wanted = text ? ParseInteger<int64_t>(*text) : std::nullopt;
        if (!wanted) return std::nullopt;
        Node node{.fragment = Fragment::kMulti};
        for (bool last = false; !last;) {
            const size_t end = m_text.find_first_of(",)");
            if (end == m_text.npos) return std::nullopt;
            last = m_text[end] == ')';
            const auto key = TakeUpTo(m_text[end]);
            if (!key || !m_read_key(*key)) return std::nullopt;
            node.keys.push_back(m_keys++);
        }
        const size_t most =
            m_context == Context::kTapscript ? kMaxKeysOfMultiA : size_t{kMaxPubkeysPerMultisig};
        if (node.keys.size() > most || *wanted < 1 ||
            *wanted > static_cast<int64_t>(node.keys.size())) {
            return std::nullopt;
        }
        node.number = static_cast<uint32_t>(*wanted);
        return Completed(std::move(node));
    }

    std::optional<Node> Thresh()
    {
        const auto text = TakeUpTo(',');
        const auto wanted = text ? ParseInteger<int64_t>(*text) : std::nullopt;
        if (!wanted || *wanted < 1) return std::nullopt;
        Node node{.fragment = Fragment::kThresh};
        do {
            auto sub = Expression();
            if (!sub) return std::nullopt;
            node.subs.push_back(std::move(*sub));
        } while (TakeCharacter(',', m_text));
        if (!TakeCharacter(')', m_text) || *wanted > static_cast<int64_t>(node.subs.size())) {
            return std::nullopt;
        }
        node.number = static_cast<uint32_t>(*wanted);
        return Completed(std::move(node));
    }

    std::optional<Node> Combined(const Combination& function)
    {
        Node node{.fragment = function.fragment};
        for (size_t i = 0; i < function.arguments; ++i) {
            if (i > 0 && !TakeCharacter(',', m_text)) return std::nullopt;
            auto sub = Expression();
            if (!sub) return std::nullopt;
            node.subs.push_back(std::move(*sub));
        }
        if (!TakeCharacter(')', m_text)) return std::nullopt;
        if (function.fragment == Fragment::kAndOr && function.arguments == 2) {
            node.subs.push_back(Made(Fragment::kFalse));
        }
        return Completed(std::move(node));
    }

    std::string_view m_text;
    const Context m_context;
    const KeyReader& m_read_key;
    uint32_t m_keys = 0;
    size_t m_depth = 0;
    size_t m_script_size = 0; //!< bytes, of the completed nodes
};

bool IsAlways(const Node& node, bool value)
{
    return node.fragment == (value ? Fragment::kTrue : Fragment::kFalse);
}

/** pk() or pkh(). */
bool IsKeyCheck(const Node& node)
{
    return node.fragment == Fragment::kWrapC &&
           (node.subs[0].fragment == Fragment::kKey || node.subs[0].fragment == Fragment::kKeyHash);
}

/** The letter of a wrapper, and the wrapped expression; null: the node is no wrapper. */
std::pair<char, const Node*> Wrapper(const Node& node)
{
    const auto sub = [&](size_t i) { return &node.subs[i]; };
    switch (node.fragment) {
    case Fragment::kWrapA: return {'a', sub(0)};
    case Fragment::kWrapS: return {'s', sub(0)};
    case Fragment::kWrapC:
        if (IsKeyCheck(node)) return {};
        return {'c', sub(0)};
    case Fragment::kWrapD: return {'d', sub(0)};
    case Fragment::kWrapV: return {'v', sub(0)};
    case Fragment::kWrapJ: return {'j', sub(0)};
    case Fragment::kWrapN: return {'n', sub(0)};
    case Fragment::kAndV:
        if (IsAlways(*sub(1), true)) return {'t', sub(0)};
        return {};
    case Fragment::kOrI:
        if (IsAlways(*sub(0), false)) return {'l', sub(1)};
        if (IsAlways(*sub(1), false)) return {'u', sub(0)};
        return {};
    default: return {};
    }
}

const char* NameOf(const Node& node, Context context)
{
    switch (node.fragment) {
    case Fragment::kKey: return "pk_k";
    case Fragment::kKeyHash: return "pk_h";
    case Fragment::kWrapC: return node.subs[0].fragment == Fragment::kKey ? "pk" : "pkh";
    case Fragment::kOlder: return "older";
    case Fragment::kAfter: return "after";
    case Fragment::kSha256: return "sha256";
    case Fragment::kHash256: return "hash256";
    case Fragment::kRipemd160: return "ripemd160";
    case Fragment::kHash160: return "hash160";
    case Fragment::kMulti: return context == Context::kWsh ? "multi" : "multi_a";
    case Fragment::kAndV: return "and_v";
    case Fragment::kAndB: return "and_b";
    case Fragment::kOrB: return "or_b";
    case Fragment::kOrC: return "or_c";
    case Fragment::kOrD: return "or_d";
    case Fragment::kOrI: return "or_i";
    case Fragment::kAndOr: return IsAlways(node.subs[2], false) ? "and_n" : "andor";
    default: return "thresh";
    }
}

class Printer {
public:
    /** `nested_left`: prints sequences of and_v as and_v(and_v(a,b),c). */
    Printer(Context context, bool nested_left, const std::function<std::string(uint32_t)>& key_text)
        : m_context(context), m_nested_left(nested_left), m_key_text(key_text)
    {
    }

    /** `wrapped`: the letters of wrappers are printed already, and need a colon. */
    void Print(const Node& node, bool wrapped = false)
    {
        const Node* at = &node;
        while (!(m_nested_left && at->fragment == Fragment::kAndV)) {
            const auto [letter, inner] = Wrapper(*at);
            if (!inner) break;
            m_out.push_back(letter);
            at = inner;
            wrapped = true;
        }
        if (m_nested_left && at->fragment == Fragment::kAndV) {
            std::vector<const Node*> parts;
            Flatten(*at, parts);
            return PrintSequence(parts, wrapped);
        }
        if (wrapped) m_out.push_back(':');
        if (IsAlways(*at, true) || IsAlways(*at, false)) {
            m_out.push_back(IsAlways(*at, true) ? '1' : '0');
            return;
        }
        m_out.append(NameOf(*at, m_context)).push_back('(');
        PrintArguments(*at);
        m_out.push_back(')');
    }

    std::string Take() { return std::move(m_out); }

private:
    static void Flatten(const Node& node, std::vector<const Node*>& parts)
    {
        if (node.fragment != Fragment::kAndV) return parts.push_back(&node);
        for (const Node& sub : node.subs) Flatten(sub, parts);
    }

    void PrintSequence(std::span<const Node* const> parts, bool wrapped)
    {
        if (IsAlways(*parts.back(), true)) {
            m_out.push_back('t');
            parts = parts.first(parts.size() - 1);
            wrapped = true;
        }
        if (parts.size() == 1) return Print(*parts[0], wrapped);
        if (wrapped) m_out.push_back(':');
        for (size_t i = 1; i < parts.size(); ++i) m_out += "and_v(";
        Print(*parts[0]);
        for (const Node* const part : parts.subspan(1)) {
            m_out.push_back(',');
            Print(*part);
            m_out.push_back(')');
        }
    }

    void PrintArguments(const Node& node)
    {
        const char* between = "";
        const auto separate = [&] { m_out += std::exchange(between, ","); };
        if (node.number > 0) {
            separate();
            m_out += std::to_string(node.number);
        }
        for (const uint32_t key : IsKeyCheck(node) ? node.subs[0].keys : node.keys) {
            separate();
            m_out += m_key_text(key);
        }
        if (!node.hash.empty()) m_out += ToHex(node.hash);
        if (IsKeyCheck(node)) return;
        const bool short_form = node.fragment == Fragment::kAndOr && IsAlways(node.subs[2], false);
        for (size_t i = 0; i < node.subs.size() - (short_form ? 1 : 0); ++i) {
            separate();
            Print(node.subs[i]);
        }
    }

    const Context m_context;
    const bool m_nested_left;
    const std::function<std::string(uint32_t)>& m_key_text;
    std::string m_out;
};

} // namespace

std::optional<Node> Parse(std::string_view text, Context context, const KeyReader& read_key)
{
    Parser parser(text, context, read_key);
    auto root = parser.Expression();
    if (!root || !parser.AtEnd() || root->script_size > MaxScriptSize(context)) return std::nullopt;
    return root;
}

std::string ToText(const Node& root, Context context,
                   const std::function<std::string(uint32_t)>& key_text)
{
    Printer printer(context, false, key_text);
    printer.Print(root);
    return printer.Take();
}

std::string ToText(const Expression& expression,
                   const std::function<std::string(uint32_t)>& key_text)
{
    Printer printer(expression.context, true, key_text);
    printer.Print(expression.root);
    return printer.Take();
}

std::optional<std::string> TextOf(ByteSpan script)
{
    const auto found =
        FromScript(script, Context::kWsh, [](const Hash20&) { return std::nullopt; });
    if (!found || !IsSane(*found)) return std::nullopt;
    return ToText(*found, [&](uint32_t key) { return ToHex(found->keys[key]); });
}

} // namespace ibd::miniscript
