// See miniscript.h. A script is read from its end, where the last opcode tells the kind of an
// expression. Each call of the reader but those for keys and constants takes a non-push operation,
// so that their number bounds the depth.
#include "keys/miniscript.h"

#include "keys/miniscript_node.h"
#include "script/script.h"
#include "util/hex.h"

#include <algorithm>
#include <fmt/format.h>

namespace ibd {

namespace {

using miniscript::Fragment;
using miniscript::Node;

constexpr size_t kMaxWitnessScript = 3'600; //!< bytes of a standard one
constexpr uint32_t kMaxWitnessItems = 100;
constexpr size_t kKeySize = 33;
constexpr int64_t kMaxLock = 0x7fffffff;

struct Operation {
    uint8_t op = 0;
    ByteSpan data;
};

/** The operation without VERIFY; nothing: `op` includes no VERIFY. */
std::optional<uint8_t> WithoutVerify(uint8_t op)
{
    switch (op) {
    case OP_CHECKSIGVERIFY: return OP_CHECKSIG;
    case OP_CHECKMULTISIGVERIFY: return OP_CHECKMULTISIG;
    case OP_EQUALVERIFY: return OP_EQUAL;
    case OP_NUMEQUALVERIFY: return OP_NUMEQUAL;
    default: return std::nullopt;
    }
}

bool HasVerifyForm(uint8_t op)
{
    return op == OP_CHECKSIG || op == OP_CHECKMULTISIG || op == OP_EQUAL || op == OP_NUMEQUAL;
}

/** The operations from last to first; those with VERIFY are split into two. Nothing: a push or a
 *  VERIFY could be shorter, a push is cut off, or there are more operations than a script may
 *  execute. */
std::optional<std::vector<Operation>> Reversed(ByteSpan script)
{
    std::vector<Operation> out;
    int operations = 0;
    ScriptIterator it(script);
    while (it.Next()) {
        const uint8_t op = it.Op();
        if (op > OP_16 && ++operations > kMaxOpsPerScript) return std::nullopt;
        if (op <= OP_PUSHDATA4 && !IsMinimalPush(op, it.Data())) return std::nullopt;
        if (op == OP_VERIFY && !out.empty() && HasVerifyForm(out.back().op)) return std::nullopt;
        const auto plain = WithoutVerify(op);
        out.push_back({plain.value_or(op), it.Data()});
        if (plain) out.push_back({OP_VERIFY, {}});
    }
    if (it.Failed()) return std::nullopt;
    std::ranges::reverse(out);
    return out;
}

class ScriptReader {
public:
    explicit ScriptReader(std::span<const Operation> operations) : m_left(operations) {}

    bool AtEnd() const { return m_left.empty(); }

    /** An expression, which may be a sequence of and_v. */
    std::optional<Node> Sequence()
    {
        std::vector<Node> parts; // from last to first
        do {
            auto part = Single();
            if (!part) return std::nullopt;
            parts.push_back(std::move(*part));
        } while (!m_left.empty() && !EndsSequence());
        std::optional<Node> out = std::move(parts.back());
        for (size_t i = parts.size() - 1; out && i-- > 0;) {
            out = Made(Fragment::kAndV, std::move(*out), std::move(parts[i]));
        }
        return out;
    }

private:
    uint8_t Op(size_t i = 0) const
    {
        return i < m_left.size() ? m_left[i].op : uint8_t{OP_INVALIDOPCODE};
    }
    ByteSpan Data(size_t i) const { return i < m_left.size() ? m_left[i].data : ByteSpan(); }
    void Skip(size_t count) { m_left = m_left.subspan(count); }
    bool Take(uint8_t op)
    {
        if (Op() != op) return false;
        Skip(1);
        return true;
    }
    /** Whether the next operation cannot be the last one of an expression. */
    bool EndsSequence() const
    {
        const uint8_t op = Op();
        return op == OP_IF || op == OP_ELSE || op == OP_NOTIF || op == OP_TOALTSTACK ||
               op == OP_SWAP;
    }
    std::optional<int64_t> Number(size_t i) const
    {
        if (const auto small = SmallInt(Op(i))) return *small;
        if (Data(i).empty()) return std::nullopt;
        return DecodeScriptNum(Data(i), true);
    }
    static bool IsKey(ByteSpan data)
    {
        return data.size() == kKeySize && (data[0] == 2 || data[0] == 3);
    }

    static std::optional<Node> Finished(Node node)
    {
        if (!miniscript::Complete(node)) return std::nullopt;
        return node;
    }
    template <typename... Subs>
    static std::optional<Node> Made(Fragment fragment, Subs&&... subs)
    {
        Node node{.fragment = fragment};
        (node.subs.push_back(std::forward<Subs>(subs)), ...);
        return Finished(std::move(node));
    }
    std::optional<Node> Leaf(size_t operations, Node node)
    {
        Skip(operations);
        return Finished(std::move(node));
    }
    std::optional<Node> Wrapped(Fragment wrapper, std::optional<Node> inner)
    {
        return inner ? Made(wrapper, std::move(*inner)) : std::nullopt;
    }

    std::optional<Node> Single()
    {
        if (m_left.empty()) return std::nullopt;
        if (Op() == OP_1) return Leaf(1, {.fragment = Fragment::kTrue});
        if (Op() == OP_0) return Leaf(1, {.fragment = Fragment::kFalse});
        if (IsKey(Data(0))) return Leaf(1, {.fragment = Fragment::kKey, .data = {Data(0)}});
        if (const auto hash = HashHere()) return Leaf(7, {.fragment = *hash, .data = {Data(1)}});
        switch (Op()) {
        case OP_CHECKSEQUENCEVERIFY: return Lock(Fragment::kOlder);
        case OP_CHECKLOCKTIMEVERIFY: return Lock(Fragment::kAfter);
        case OP_CHECKMULTISIG: return Multi();
        case OP_EQUAL: return Thresh();
        case OP_CHECKSIG: Skip(1); return Wrapped(Fragment::kWrapC, Single());
        case OP_VERIFY: Skip(1); return Wrapped(Fragment::kWrapV, Single());
        case OP_0NOTEQUAL: Skip(1); return Wrapped(Fragment::kWrapN, Single());
        case OP_BOOLAND: return BothOf(Fragment::kAndB);
        case OP_BOOLOR: return BothOf(Fragment::kOrB);
        case OP_ENDIF: Skip(1); return Conditional();
        default: return std::nullopt;
        }
    }

    /** SIZE 32 EQUALVERIFY, a hash function, a hash, EQUAL. */
    std::optional<Fragment> HashHere() const
    {
        if (Op(0) != OP_EQUAL || Op(3) != OP_VERIFY || Op(4) != OP_EQUAL || Number(5) != 32 ||
            Op(6) != OP_SIZE) {
            return std::nullopt;
        }
        const size_t size = Data(1).size();
        if (Op(2) == OP_SHA256 && size == 32) return Fragment::kSha256;
        if (Op(2) == OP_HASH256 && size == 32) return Fragment::kHash256;
        if (Op(2) == OP_RIPEMD160 && size == 20) return Fragment::kRipemd160;
        if (Op(2) == OP_HASH160 && size == 20) return Fragment::kHash160;
        return std::nullopt;
    }

    std::optional<Node> Lock(Fragment fragment)
    {
        const auto number = Number(1);
        if (!number || *number < 1 || *number > kMaxLock) return std::nullopt;
        return Leaf(2, {.fragment = fragment, .number = static_cast<uint32_t>(*number)});
    }

    std::optional<Node> Multi()
    {
        const auto count = Number(1);
        if (!count || *count < 1 || *count > kMaxPubkeysPerMultisig) return std::nullopt;
        const auto keys = static_cast<size_t>(*count);
        const auto wanted = Number(2 + keys);
        if (!wanted || *wanted < 1 || *wanted > *count) return std::nullopt;
        Node node{.fragment = Fragment::kMulti, .number = static_cast<uint32_t>(*wanted)};
        for (size_t i = keys; i > 0; --i) {
            if (!IsKey(Data(1 + i))) return std::nullopt;
            node.data.push_back(Data(1 + i));
        }
        return Leaf(3 + keys, std::move(node));
    }

    std::optional<Node> Thresh()
    {
        const auto wanted = Number(1);
        if (!wanted || *wanted < 1) return std::nullopt;
        Skip(2);
        Node node{.fragment = Fragment::kThresh};
        for (bool first = false; !first;) {
            first = !Take(OP_ADD);
            auto sub = first ? Single() : Argument();
            if (!sub) return std::nullopt;
            node.subs.push_back(std::move(*sub));
        }
        if (*wanted > static_cast<int64_t>(node.subs.size())) return std::nullopt;
        node.number = static_cast<uint32_t>(*wanted);
        std::ranges::reverse(node.subs);
        return Finished(std::move(node));
    }

    /** An expression of type W. */
    std::optional<Node> Argument()
    {
        const bool by_altstack = Take(OP_FROMALTSTACK);
        auto inner = Sequence();
        if (!inner || !Take(by_altstack ? OP_TOALTSTACK : OP_SWAP)) return std::nullopt;
        return Made(by_altstack ? Fragment::kWrapA : Fragment::kWrapS, std::move(*inner));
    }

    std::optional<Node> BothOf(Fragment fragment)
    {
        Skip(1);
        auto second = Argument();
        auto first = second ? Single() : std::nullopt;
        if (!first) return std::nullopt;
        return Made(fragment, std::move(*first), std::move(*second));
    }

    /** The expression that ENDIF ends. */
    std::optional<Node> Conditional()
    {
        auto last = Sequence();
        if (!last) return std::nullopt;
        if (Take(OP_ELSE)) return WithElse(std::move(*last));
        if (Take(OP_IF)) {
            if (Take(OP_DUP)) return Made(Fragment::kWrapD, std::move(*last));
            if (!Take(OP_0NOTEQUAL) || !Take(OP_SIZE)) return std::nullopt;
            return Made(Fragment::kWrapJ, std::move(*last));
        }
        if (!Take(OP_NOTIF)) return std::nullopt;
        const bool keeps = Take(OP_IFDUP);
        auto first = Single();
        if (!first) return std::nullopt;
        return Made(keeps ? Fragment::kOrD : Fragment::kOrC, std::move(*first), std::move(*last));
    }

    std::optional<Node> WithElse(Node last)
    {
        auto middle = Sequence();
        if (!middle) return std::nullopt;
        if (Take(OP_IF)) return Made(Fragment::kOrI, std::move(*middle), std::move(last));
        if (!Take(OP_NOTIF)) return std::nullopt;
        auto first = Single();
        if (!first) return std::nullopt;
        return Made(Fragment::kAndOr, std::move(*first), std::move(last), std::move(*middle));
    }

    std::span<const Operation> m_left;
};

void CollectKeys(const Node& node, std::vector<ByteSpan>& keys)
{
    if (node.fragment == Fragment::kKey || node.fragment == Fragment::kMulti) {
        keys.insert(keys.end(), node.data.begin(), node.data.end());
    }
    for (const Node& sub : node.subs) CollectKeys(sub, keys);
}

bool RepeatsKey(const Node& node)
{
    std::vector<ByteSpan> keys;
    CollectKeys(node, keys);
    std::ranges::sort(keys, [](ByteSpan a, ByteSpan b) {
        return std::ranges::lexicographical_compare(a, b);
    });
    return std::ranges::adjacent_find(keys, [](ByteSpan a, ByteSpan b) {
               return std::ranges::equal(a, b);
           }) != keys.end();
}

bool IsSane(const Node& node)
{
    const uint32_t operations = node.ops + node.keys.yes.value_or(0);
    return node.type.Has("Bmsk") && operations <= kMaxOpsPerScript &&
           node.items.yes.value_or(0) <= kMaxWitnessItems && !RepeatsKey(node);
}

bool IsAlways(const Node& node, bool value)
{
    return node.fragment == (value ? Fragment::kTrue : Fragment::kFalse);
}

/** The letter of a wrapper, and the expression that it stands before; '\0': it is none. */
std::pair<char, const Node*> Wrapper(const Node& node)
{
    const auto sub = [&](size_t i) { return &node.subs[i]; };
    switch (node.fragment) {
    case Fragment::kWrapA: return {'a', sub(0)};
    case Fragment::kWrapS: return {'s', sub(0)};
    case Fragment::kWrapC:
        if (sub(0)->fragment == Fragment::kKey) return {}; // pk()
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

const char* NameOf(const Node& node)
{
    switch (node.fragment) {
    case Fragment::kKey: return "pk_k";
    case Fragment::kWrapC: return "pk";
    case Fragment::kOlder: return "older";
    case Fragment::kAfter: return "after";
    case Fragment::kSha256: return "sha256";
    case Fragment::kHash256: return "hash256";
    case Fragment::kRipemd160: return "ripemd160";
    case Fragment::kHash160: return "hash160";
    case Fragment::kMulti: return "multi";
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

void Print(const Node& node, std::string& out)
{
    const Node* at = &node;
    bool wrapped = false;
    for (auto next = Wrapper(*at); next.second; next = Wrapper(*at)) {
        out.push_back(next.first);
        at = next.second;
        wrapped = true;
    }
    if (wrapped) out.push_back(':');
    if (IsAlways(*at, true) || IsAlways(*at, false)) {
        out.push_back(IsAlways(*at, true) ? '1' : '0');
        return;
    }
    out.append(NameOf(*at)).push_back('(');
    const char* between = "";
    if (at->number > 0) {
        out += fmt::format("{}", at->number);
        between = ",";
    }
    const bool is_pk = at->fragment == Fragment::kWrapC;
    for (const ByteSpan data : is_pk ? at->subs[0].data : at->data) {
        out += between + ToHex(data);
        between = ",";
    }
    const bool short_form = at->fragment == Fragment::kAndOr && IsAlways(at->subs[2], false);
    const size_t subs = is_pk ? 0 : at->subs.size() - (short_form ? 1 : 0);
    for (size_t i = 0; i < subs; ++i) {
        out += between;
        Print(at->subs[i], out);
        between = ",";
    }
    out.push_back(')');
}

} // namespace

std::optional<std::string> InferMiniscript(ByteSpan script)
{
    if (script.size() > kMaxWitnessScript) return std::nullopt;
    const auto operations = Reversed(script);
    if (!operations) return std::nullopt;
    ScriptReader reader(*operations);
    const auto node = reader.Sequence();
    if (!node || !reader.AtEnd() || !IsSane(*node)) return std::nullopt;
    std::string out;
    Print(*node, out);
    return out;
}

} // namespace ibd
