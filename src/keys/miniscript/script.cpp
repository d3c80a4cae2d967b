// See script.h. A script is read from its end, where the last opcode tells the kind of an
// expression.
#include "keys/miniscript/script.h"

#include "script/script.h"

#include <algorithm>

namespace ibd::miniscript {

namespace {

/** The most levels of nodes. A script does not show how its sequences of and_v were nested, so the
 *  reader chooses a nesting: each sequence takes at most two levels more than in the text. */
constexpr size_t kMaxHeight = 2 * kMaxDepth;

struct Operation {
    uint8_t op = 0;
    ByteSpan data;
};

/** Operations, and their forms that verify the result. */
constexpr std::pair<uint8_t, uint8_t> kVerifyForms[] = {
    {OP_CHECKSIG, OP_CHECKSIGVERIFY},
    {OP_CHECKMULTISIG, OP_CHECKMULTISIGVERIFY},
    {OP_EQUAL, OP_EQUALVERIFY},
    {OP_NUMEQUAL, OP_NUMEQUALVERIFY},
};

/** The operation without VERIFY; nothing: `op` includes no VERIFY. */
std::optional<uint8_t> WithoutVerify(uint8_t op)
{
    for (const auto& [plain, verified] : kVerifyForms) {
        if (op == verified) return plain;
    }
    return std::nullopt;
}

/** The form of `op` with VERIFY; nothing: there is none. */
std::optional<uint8_t> WithVerify(uint8_t op)
{
    for (const auto& [plain, verified] : kVerifyForms) {
        if (op == plain) return verified;
    }
    return std::nullopt;
}

/** The operations from last to first; one with VERIFY is split into two. Nothing: a push or a
 *  VERIFY could be shorter, a push is cut off, or there are more operations than a P2WSH script may
 *  execute. */
std::optional<std::vector<Operation>> Reversed(ByteSpan script, Context context)
{
    std::vector<Operation> out;
    int operations = 0;
    ScriptIterator it(script);
    while (it.Next()) {
        const uint8_t op = it.Op();
        if (op > OP_16 && ++operations > kMaxOpsPerScript && context == Context::kWsh) {
            return std::nullopt;
        }
        if (op <= OP_PUSHDATA4 && !IsMinimalPush(op, it.Data())) return std::nullopt;
        if (op == OP_VERIFY && !out.empty() && WithVerify(out.back().op)) return std::nullopt;
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
    ScriptReader(std::span<const Operation> operations, Context context, const KeyFinder& find_key)
        : m_context(context), m_find_key(find_key), m_left(operations)
    {
    }

    bool AtEnd() const { return m_left.empty(); }
    std::vector<Bytes> TakeKeys() { return std::move(m_keys); }

    /** An expression, which may be a sequence of and_v. */
    std::optional<Node> Sequence()
    {
        std::vector<Node> parts; // from last to first
        do {
            auto part = Single();
            if (!part) return std::nullopt;
            parts.push_back(std::move(*part));
        } while (!m_left.empty() && !EndsSequence());
        return Joined(std::move(parts));
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
    bool IsKey(ByteSpan data) const
    {
        if (m_context == Context::kTapscript) return data.size() == 32;
        return data.size() == 33 && (data[0] == 2 || data[0] == 3);
    }
    /** Adds a key to the table. Returns its position. */
    uint32_t AddKey(ByteSpan key)
    {
        m_keys.emplace_back(key.begin(), key.end());
        return static_cast<uint32_t>(m_keys.size() - 1);
    }

    std::optional<Node> Finished(Node node) const
    {
        Complete(node, m_context);
        if (!HasBasicType(node) || node.height > kMaxHeight) return std::nullopt;
        return node;
    }
    template <typename... Subs>
    std::optional<Node> Made(Fragment fragment, Subs&&... subs) const
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
    /** Joins the parts of a sequence to a tree of little height: low parts are joined with each
     *  other before a higher part. `parts`: from last to first. */
    std::optional<Node> Joined(std::vector<Node> parts) const
    {
        std::vector<Node> trees; // from left to right, each lower than the one before
        const auto join_last = [&] {
            Node last = std::move(trees.back());
            trees.pop_back();
            auto joined = Made(Fragment::kAndV, std::move(trees.back()), std::move(last));
            if (joined) trees.back() = std::move(*joined);
            return joined.has_value();
        };
        for (; !parts.empty(); parts.pop_back()) {
            const size_t height = parts.back().height;
            while (trees.size() > 1 && trees[trees.size() - 2].height < height) {
                if (!join_last()) return std::nullopt;
            }
            trees.push_back(std::move(parts.back()));
            while (trees.size() > 1 && trees[trees.size() - 2].height <= trees.back().height) {
                if (!join_last()) return std::nullopt;
            }
        }
        while (trees.size() > 1) {
            if (!join_last()) return std::nullopt;
        }
        return std::move(trees[0]);
    }

    std::optional<Node> Wrapped(Fragment wrapper, std::optional<Node> inner) const
    {
        return inner ? Made(wrapper, std::move(*inner)) : std::nullopt;
    }

    std::optional<Node> Single()
    {
        if (m_left.empty() || m_depth >= kMaxDepth) return std::nullopt;
        ++m_depth;
        auto out = SingleAtDepth();
        --m_depth;
        return out;
    }

    std::optional<Node> SingleAtDepth()
    {
        if (Op() == OP_1) return Leaf(1, {.fragment = Fragment::kTrue});
        if (Op() == OP_0) return Leaf(1, {.fragment = Fragment::kFalse});
        if (IsKey(Data(0))) return Leaf(1, {.fragment = Fragment::kKey, .keys = {AddKey(Data(0))}});
        if (IsKeyHashHere()) return KeyHash();
        if (const auto hash = HashHere()) {
            return Leaf(7, {.fragment = *hash, .hash = {Data(1).begin(), Data(1).end()}});
        }
        switch (Op()) {
        case OP_CHECKSEQUENCEVERIFY: return Lock(Fragment::kOlder);
        case OP_CHECKLOCKTIMEVERIFY: return Lock(Fragment::kAfter);
        case OP_CHECKMULTISIG: return m_context == Context::kWsh ? Multi() : std::nullopt;
        case OP_NUMEQUAL: return m_context == Context::kTapscript ? MultiA() : std::nullopt;
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

    /** DUP HASH160, a hash, EQUALVERIFY. */
    bool IsKeyHashHere() const
    {
        return Op(0) == OP_VERIFY && Op(1) == OP_EQUAL && Data(2).size() == 20 &&
               Op(3) == OP_HASH160 && Op(4) == OP_DUP;
    }

    std::optional<Node> KeyHash()
    {
        Hash20 hash;
        std::ranges::copy(Data(2), hash.begin());
        const auto key = m_find_key(hash);
        if (!key || !IsKey(*key)) return std::nullopt;
        return Leaf(5, {.fragment = Fragment::kKeyHash, .keys = {AddKey(*key)}});
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
            node.keys.push_back(AddKey(Data(1 + i)));
        }
        return Leaf(3 + keys, std::move(node));
    }

    /** A key and CHECKSIG; further keys, each with CHECKSIGADD; a number; NUMEQUAL (BIP387). */
    std::optional<Node> MultiA()
    {
        const auto wanted = Number(1);
        if (!wanted || *wanted < 1 || *wanted > int64_t{kMaxKeysOfMultiA}) return std::nullopt;
        Node node{.fragment = Fragment::kMulti, .number = static_cast<uint32_t>(*wanted)};
        size_t taken = 2;
        for (bool first = false; !first; taken += 2) {
            first = Op(taken) == OP_CHECKSIG;
            if ((!first && Op(taken) != OP_CHECKSIGADD) || !IsKey(Data(taken + 1)) ||
                node.keys.size() == kMaxKeysOfMultiA) {
                return std::nullopt;
            }
            node.keys.push_back(AddKey(Data(taken + 1)));
        }
        if (*wanted > static_cast<int64_t>(node.keys.size())) return std::nullopt;
        std::ranges::reverse(node.keys);
        return Leaf(taken, std::move(node));
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

    const Context m_context;
    const KeyFinder& m_find_key;
    std::span<const Operation> m_left;
    std::vector<Bytes> m_keys;
    size_t m_depth = 0;
};

/** Writes the script of a node. */
class ScriptWriter {
public:
    ScriptWriter(Context context, std::span<const Bytes> keys) : m_context(context), m_keys(keys) {}

    void Write(const Node& node)
    {
        const auto write = [&](auto... parts) { (Add(node, parts), ...); };
        switch (node.fragment) {
        case Fragment::kFalse: return write(OP_0);
        case Fragment::kTrue: return write(OP_1);
        case Fragment::kKey: return AppendPush(m_out, m_keys[node.keys[0]]);
        case Fragment::kKeyHash: return WriteKeyHash(node);
        case Fragment::kOlder: return write(kNumber, OP_CHECKSEQUENCEVERIFY);
        case Fragment::kAfter: return write(kNumber, OP_CHECKLOCKTIMEVERIFY);
        case Fragment::kSha256: return WriteHash(node, OP_SHA256);
        case Fragment::kHash256: return WriteHash(node, OP_HASH256);
        case Fragment::kRipemd160: return WriteHash(node, OP_RIPEMD160);
        case Fragment::kHash160: return WriteHash(node, OP_HASH160);
        case Fragment::kMulti: return WriteMulti(node);
        case Fragment::kWrapA: return write(OP_TOALTSTACK, kSub, OP_FROMALTSTACK);
        case Fragment::kWrapS: return write(OP_SWAP, kSub);
        case Fragment::kWrapC: return write(kSub, OP_CHECKSIG);
        case Fragment::kWrapD: return write(OP_DUP, OP_IF, kSub, OP_ENDIF);
        case Fragment::kWrapV: return WriteVerified(node);
        case Fragment::kWrapJ: return write(OP_SIZE, OP_0NOTEQUAL, OP_IF, kSub, OP_ENDIF);
        case Fragment::kWrapN: return write(kSub, OP_0NOTEQUAL);
        case Fragment::kAndV: return write(kSub, kSub + 1);
        case Fragment::kAndB: return write(kSub, kSub + 1, OP_BOOLAND);
        case Fragment::kOrB: return write(kSub, kSub + 1, OP_BOOLOR);
        case Fragment::kOrC: return write(kSub, OP_NOTIF, kSub + 1, OP_ENDIF);
        case Fragment::kOrD: return write(kSub, OP_IFDUP, OP_NOTIF, kSub + 1, OP_ENDIF);
        case Fragment::kOrI: return write(OP_IF, kSub, OP_ELSE, kSub + 1, OP_ENDIF);
        case Fragment::kAndOr: return write(kSub, OP_NOTIF, kSub + 2, OP_ELSE, kSub + 1, OP_ENDIF);
        case Fragment::kThresh: return WriteThresh(node);
        }
    }

    Bytes Take() { return std::move(m_out); }

private:
    static constexpr int kNumber = -1, kSub = 1000; //!< no opcodes: the number; the first child

    void Add(const Node& node, int part)
    {
        if (part == kNumber) return AppendPushInt(m_out, node.number);
        if (part >= kSub) return Write(node.subs[static_cast<size_t>(part - kSub)]);
        m_out.push_back(static_cast<uint8_t>(part));
    }
    void Ops(std::initializer_list<uint8_t> ops) { m_out.insert(m_out.end(), ops); }

    void WriteKeyHash(const Node& node)
    {
        Ops({OP_DUP, OP_HASH160});
        AppendPush(m_out, Hash160(m_keys[node.keys[0]]));
        Ops({OP_EQUALVERIFY});
    }
    void WriteHash(const Node& node, uint8_t function)
    {
        Ops({OP_SIZE});
        AppendPushInt(m_out, 32);
        Ops({OP_EQUALVERIFY, function});
        AppendPush(m_out, node.hash);
        Ops({OP_EQUAL});
    }
    void WriteMulti(const Node& node)
    {
        const bool tapscript = m_context == Context::kTapscript;
        if (!tapscript) AppendPushInt(m_out, node.number);
        for (const uint32_t& key : node.keys) {
            const bool first = &key == node.keys.data();
            AppendPush(m_out, m_keys[key]);
            if (tapscript) Ops({first ? OP_CHECKSIG : OP_CHECKSIGADD});
        }
        AppendPushInt(m_out, tapscript ? node.number : static_cast<int64_t>(node.keys.size()));
        Ops({tapscript ? OP_NUMEQUAL : OP_CHECKMULTISIG});
    }
    void WriteThresh(const Node& node)
    {
        for (const Node& sub : node.subs) {
            Write(sub);
            if (&sub != &node.subs.front()) Ops({OP_ADD});
        }
        AppendPushInt(m_out, node.number);
        Ops({OP_EQUAL});
    }
    void WriteVerified(const Node& node)
    {
        Write(node.subs[0]);
        if (node.subs[0].type.Has("x")) return Ops({OP_VERIFY});
        m_out.back() = *WithVerify(m_out.back());
    }

    const Context m_context;
    const std::span<const Bytes> m_keys;
    Bytes m_out;
};

} // namespace

std::optional<Expression> FromScript(ByteSpan script, Context context, const KeyFinder& find_key)
{
    if (script.size() > MaxScriptSize(context)) return std::nullopt;
    const auto operations = Reversed(script, context);
    if (!operations) return std::nullopt;
    ScriptReader reader(*operations, context, find_key);
    auto root = reader.Sequence();
    if (!root || !reader.AtEnd() || !root->type.Has("B")) return std::nullopt;
    return Expression{context, std::move(*root), reader.TakeKeys()};
}

bool IsSane(const Expression& expression)
{
    const Fault fault =
        FindFault(expression.root, expression.context, FirstEqual(expression.keys)).fault;
    return fault == Fault::kNone || fault == Fault::kUnsatisfiable;
}

Bytes ToScript(const Node& root, Context context, std::span<const Bytes> keys)
{
    ScriptWriter writer(context, keys);
    writer.Write(root);
    return writer.Take();
}

} // namespace ibd::miniscript
