// See node.h. The tables are those of BIP379.
#include "keys/miniscript/node.h"

#include "script/script.h"

#include <algorithm>

namespace ibd::miniscript {

namespace {

constexpr uint32_t kLockByTime = 1 << 22;        //!< of a relative lock (BIP68)
constexpr uint32_t kFirstLockTime = 500'000'000; //!< an absolute lock from here on is a time
constexpr Properties kBasic = "BVKW", kLocks = "ghij", kAllLocks = "ghijk";

/** Whether relative locks by time and by height would be needed together, or absolute ones. */
bool Clash(Properties a, Properties b)
{
    for (const auto& [time, height] : {std::pair{"g", "h"}, std::pair{"i", "j"}}) {
        if ((a.Has(time) && b.Has(height)) || (a.Has(height) && b.Has(time))) return true;
    }
    return false;
}

/** Locks of children that are needed together. */
Properties LocksOfBoth(Properties x, Properties y)
{
    return ((x | y) & kLocks) | (x & y & "k").If(!Clash(x, y));
}

/** Locks of children if only one child is needed. */
Properties LocksOfEither(Properties x, Properties y) { return ((x | y) & kLocks) | (x & y & "k"); }

Properties LeafType(const Node& node, Context context)
{
    using P = Properties;
    switch (node.fragment) {
    case Fragment::kFalse: return "Bzudemsxk";
    case Fragment::kTrue: return "Bzufmxk";
    case Fragment::kKey: return "Konudemsxk";
    case Fragment::kKeyHash: return "Knudemsxk";
    case Fragment::kOlder: return P("Bzfmxk") | P(node.number & kLockByTime ? "g" : "h");
    case Fragment::kAfter: return P("Bzfmxk") | P(node.number >= kFirstLockTime ? "i" : "j");
    case Fragment::kMulti: return context == Context::kWsh ? "Bnudemsk" : "Budemsk";
    default: return "Bonudmk"; // hashes
    }
}

Properties WrappedType(Fragment wrapper, Properties x, Context context)
{
    using P = Properties;
    const Properties locks = x & kAllLocks;
    switch (wrapper) {
    case Fragment::kWrapA: return P("W").If(x.Has("B")) | locks | (x & "udfems") | "x";
    case Fragment::kWrapS: return P("W").If(x.Has("Bo")) | locks | (x & "udfemsx");
    case Fragment::kWrapC: return P("B").If(x.Has("K")) | locks | (x & "ondfem") | "us";
    case Fragment::kWrapD:
        return P("B").If(x.Has("Vz")) | P("o").If(x.Has("z")) | P("e").If(x.Has("f")) | locks |
               (x & "ms") | "ndx" |
               P("u").If(context == Context::kTapscript); // where IF takes only 1 for true
    case Fragment::kWrapV: return P("V").If(x.Has("B")) | locks | (x & "zonms") | "fx";
    case Fragment::kWrapJ:
        return P("B").If(x.Has("Bn")) | P("e").If(x.Has("f")) | locks | (x & "oums") | "ndx";
    default: return locks | (x & "Bzondfems") | "ux"; // n
    }
}

Properties AndType(Fragment fragment, Properties x, Properties y)
{
    using P = Properties;
    const Properties any = x | y, both = x & y;
    const Properties shared = (any & "o").If(any.Has("z")) | (x & "n") | (y & "n").If(x.Has("z")) |
                              (both & "dmz") | (any & "s") | LocksOfBoth(x, y);
    if (fragment == Fragment::kAndV) {
        return shared | (y & "KVB").If(x.Has("V")) | P("f").If(y.Has("f") || x.Has("s")) |
               (y & "ux");
    }
    return shared | (x & "B").If(y.Has("W")) | (both & "e").If(both.Has("s")) |
           P("f").If(both.Has("f") || x.Has("sf") || y.Has("sf")) | "ux";
}

Properties OrType(Fragment fragment, Properties x, Properties y)
{
    using P = Properties;
    const Properties any = x | y, both = x & y, locks = LocksOfEither(x, y);
    if (fragment == Fragment::kOrB) {
        return P("B").If(x.Has("Bd") && y.Has("Wd")) | (any & "o").If(any.Has("z")) |
               (both & "m").If(any.Has("s") && both.Has("e")) | (both & "zse") | "dux" | locks;
    }
    if (fragment == Fragment::kOrI) {
        return (both & "VBKufs") | P("o").If(both.Has("z")) | (any & "e").If(any.Has("f")) |
               (both & "m").If(any.Has("s")) | (any & "d") | "x" | locks;
    }
    const Properties shared = (x & "o").If(y.Has("z")) |
                              (both & "m").If(x.Has("e") && any.Has("s")) | (both & "zs") | "x" |
                              locks;
    if (fragment == Fragment::kOrC) return shared | (y & "V").If(x.Has("Bdu")) | "f";
    return shared | (y & "B").If(x.Has("Bdu")) | (y & "ufde"); // or_d
}

Properties AndOrType(Properties x, Properties y, Properties z)
{
    using P = Properties;
    const Properties all = x & y & z, any = x | y | z, way = x | (y & z);
    const bool sure = x.Has("s") || y.Has("f");
    return (y & z & "BKV").If(x.Has("Bdu")) | (all & "z") | (way & "o").If(way.Has("z")) |
           (y & z & "u") | (z & "f").If(sure) | (z & "d") | (z & "e").If(sure) |
           (all & "m").If(x.Has("e") && any.Has("s")) | (z & (x | y) & "s") | "x" | (any & kLocks) |
           P("k").If(all.Has("k") && !Clash(x, y));
}

Properties ThreshType(const Node& node)
{
    using P = Properties;
    bool all_e = true, all_m = true;
    size_t signed_ones = 0, taken = 0;
    Properties locks = "k";
    for (const Node& sub : node.subs) {
        const Properties type = sub.type;
        if (!type.Has(&sub == &node.subs.front() ? "Bdu" : "Wdu")) return {};
        all_e &= type.Has("e");
        all_m &= type.Has("m");
        signed_ones += type.Has("s") ? 1 : 0;
        taken += type.Has("z") ? 0 : type.Has("o") ? 1 : 2;
        locks = node.number > 1 ? LocksOfBoth(locks, type) : LocksOfEither(locks, type);
    }
    const size_t unneeded = node.subs.size() - node.number;
    return P("Bdu") | P("z").If(taken == 0) | P("o").If(taken == 1) |
           P("e").If(all_e && signed_ones == node.subs.size()) |
           P("m").If(all_e && all_m && signed_ones >= unneeded) |
           P("s").If(signed_ones > unneeded) | locks;
}

Properties TypeOf(const Node& node, Context context)
{
    for (const Node& sub : node.subs) {
        if (!HasBasicType(sub)) return {};
    }
    const auto type = [&](size_t i) { return node.subs[i].type; };
    switch (node.fragment) {
    case Fragment::kWrapA:
    case Fragment::kWrapS:
    case Fragment::kWrapC:
    case Fragment::kWrapD:
    case Fragment::kWrapV:
    case Fragment::kWrapJ:
    case Fragment::kWrapN: return WrappedType(node.fragment, type(0), context);
    case Fragment::kAndV:
    case Fragment::kAndB: return AndType(node.fragment, type(0), type(1));
    case Fragment::kOrB:
    case Fragment::kOrC:
    case Fragment::kOrD:
    case Fragment::kOrI: return OrType(node.fragment, type(0), type(1));
    case Fragment::kAndOr: return AndOrType(type(0), type(1), type(2));
    case Fragment::kThresh: return ThreshType(node);
    default: return LeafType(node, context);
    }
}

template <typename Cost>
std::optional<Cost> Sum(const std::optional<Cost>& a, const std::optional<Cost>& b)
{
    return a && b ? std::optional(*a + *b) : std::nullopt;
}

template <typename Cost>
std::optional<Cost> Most(const std::optional<Cost>& a, const std::optional<Cost>& b)
{
    return a && b ? std::optional(MaxOf(*a, *b)) : a ? a : b;
}

/** The cost of the operations between and after the children. */
template <typename Cost>
struct Glue {
    Cost branch;      //!< IF or NOTIF
    Cost taken_ifdup; //!< IFDUP of a true value
    Cost combine;     //!< ADD, BOOLAND, BOOLOR
    Cost compare;     //!< a number and EQUAL
};
constexpr Glue<KeyOps> kKeyGlue{};
constexpr StackUse kPush{-1, 0}, kTakeOne{1, 1};
constexpr Glue<StackUse> kStackGlue{kTakeOne, kPush, kTakeOne, kPush + kTakeOne};

/** The cost of thresh: `number` of the children are satisfied, the others are not. Children that
 *  cannot be satisfied are added up first, so that they cost little time. */
template <typename Cost>
Ways<Cost> ThreshWays(const Node& node, Ways<Cost> Node::*kind, const Glue<Cost>& glue)
{
    using One = std::optional<Cost>;
    std::vector<One> by_satisfied{Cost()};
    One unsatisfied = Cost(); // of the children since by_satisfied was made
    for (const Node& sub : node.subs) {
        const Ways<Cost>& ways = sub.*kind;
        const One add(&sub == &node.subs.front() ? Cost() : glue.combine);
        const One no = Sum(unsatisfied, Sum(ways.no, add));
        if (!ways.yes) {
            unsatisfied = no;
            continue;
        }
        const One yes = Sum(unsatisfied, Sum(ways.yes, add));
        std::vector<One> next(by_satisfied.size() + 1);
        for (size_t i = 0; i < next.size(); ++i) {
            if (i < by_satisfied.size()) next[i] = Sum(by_satisfied[i], no);
            if (i > 0) next[i] = Most(next[i], Sum(by_satisfied[i - 1], yes));
        }
        by_satisfied = std::move(next);
        unsatisfied = Cost();
    }
    const One end = Sum(unsatisfied, One(glue.compare));
    if (node.number >= by_satisfied.size()) return {std::nullopt, Sum(by_satisfied[0], end)};
    return {Sum(by_satisfied[node.number], end), Sum(by_satisfied[0], end)};
}

/** The cost of a node that combines others. */
template <typename Cost>
Ways<Cost> CombinedWays(const Node& node, Ways<Cost> Node::*kind, const Glue<Cost>& glue)
{
    using One = std::optional<Cost>;
    if (node.fragment == Fragment::kThresh) return ThreshWays(node, kind, glue);
    const Ways<Cost>& x = node.subs[0].*kind;
    const Ways<Cost>& y = node.subs[1].*kind;
    const One branch(glue.branch), combine(glue.combine), ifdup(glue.taken_ifdup);
    const auto all = [](const auto&... parts) {
        One sum = Cost();
        ((sum = Sum(sum, One(parts))), ...);
        return sum;
    };
    switch (node.fragment) {
    case Fragment::kAndV: return {all(x.yes, y.yes), std::nullopt};
    case Fragment::kAndB: return {all(x.yes, y.yes, combine), all(x.no, y.no, combine)};
    case Fragment::kOrB:
        return {Most(all(x.yes, y.no, combine), all(x.no, y.yes, combine)),
                all(x.no, y.no, combine)};
    case Fragment::kOrC: return {Most(all(x.yes, branch), all(x.no, branch, y.yes)), std::nullopt};
    case Fragment::kOrD:
        return {Most(all(x.yes, ifdup, branch), all(x.no, branch, y.yes)), all(x.no, branch, y.no)};
    case Fragment::kOrI: return {all(branch, Most(x.yes, y.yes)), all(branch, Most(x.no, y.no))};
    default: break;
    }
    const Ways<Cost>& z = node.subs[2].*kind; // andor
    return {Most(all(x.yes, branch, y.yes), all(x.no, branch, z.yes)), all(x.no, branch, z.no)};
}

/** Non-push opcodes of the fragment itself. */
uint32_t OwnOps(const Node& node)
{
    switch (node.fragment) {
    case Fragment::kFalse:
    case Fragment::kTrue:
    case Fragment::kKey:
    case Fragment::kAndV: return 0;
    case Fragment::kKeyHash: return 3;
    case Fragment::kWrapV: return node.subs[0].type.Has("x") ? 1 : 0; // else a VERIFY form
    case Fragment::kOlder:
    case Fragment::kAfter:
    case Fragment::kMulti: // in tapscript nothing counts operations
    case Fragment::kWrapS:
    case Fragment::kWrapC:
    case Fragment::kWrapN:
    case Fragment::kAndB:
    case Fragment::kOrB: return 1;
    case Fragment::kWrapA:
    case Fragment::kOrC: return 2;
    case Fragment::kWrapD:
    case Fragment::kOrD:
    case Fragment::kOrI:
    case Fragment::kAndOr: return 3;
    case Fragment::kThresh: return static_cast<uint32_t>(node.subs.size()); // ADDs and EQUAL
    default: return 4;                                                      // j, hashes
    }
}

/** Whether the node leaves an item on the stack, as all types but V do. */
bool HasValue(const Node& node) { return (node.type & "BKW").Any(); }

KeyOps KeysChecked(const Node& node)
{
    return {node.fragment == Fragment::kMulti ? static_cast<uint32_t>(node.keys.size()) : 0};
}

/** The keys that CHECKMULTISIG counts in a node with at most one child. */
Ways<KeyOps> SimpleKeyOps(const Node& node)
{
    constexpr std::optional<KeyOps> kNone;
    switch (node.fragment) {
    case Fragment::kFalse: return {kNone, KeyOps()};
    case Fragment::kKey:
    case Fragment::kKeyHash:
    case Fragment::kMulti: return {KeysChecked(node), KeysChecked(node)};
    case Fragment::kWrapD:
    case Fragment::kWrapJ: return {node.subs[0].key_ops.yes, KeyOps()};
    case Fragment::kWrapV: return {node.subs[0].key_ops.yes, kNone};
    case Fragment::kWrapA:
    case Fragment::kWrapS:
    case Fragment::kWrapC:
    case Fragment::kWrapN: return node.subs[0].key_ops;
    default: return {KeyOps(), kNone}; // true, locks, hashes
    }
}

/** Stack items of multi or multi_a. For multi the signatures, the keys and both numbers are on the
 *  stack together; for multi_a the signatures, one for each key. */
StackUse MultiStack(const Node& node, Context context)
{
    const auto all = static_cast<int32_t>(node.keys.size());
    const auto wanted = static_cast<int32_t>(node.number);
    if (context == Context::kTapscript) return {all - 1, all};
    return {wanted, wanted + all + 2};
}

/** Stack items of a node with at most one child. */
Ways<StackUse> SimpleStack(const Node& node, Context context)
{
    constexpr std::optional<StackUse> kNone;
    constexpr StackUse kTakeTwo{2, 2};
    const auto after = [&](StackUse before, const std::optional<StackUse>& way) {
        return Sum(std::optional(before), way);
    };
    const Ways<StackUse> sub = node.subs.empty() ? Ways<StackUse>() : node.subs[0].stack;
    switch (node.fragment) {
    case Fragment::kFalse: return {kNone, kPush};
    case Fragment::kTrue:
    case Fragment::kOlder:
    case Fragment::kAfter: return {kPush, kNone};
    case Fragment::kKey: return {kPush, kPush};
    case Fragment::kKeyHash: {
        const StackUse use = kPush + kPush + kTakeTwo; // DUP, HASH160, the hash, EQUALVERIFY
        return {use, use};
    }
    case Fragment::kMulti: {
        const StackUse use = MultiStack(node, context);
        return {use, use};
    }
    case Fragment::kWrapA:
    case Fragment::kWrapS:
    case Fragment::kWrapN: return sub;
    case Fragment::kWrapC:
        return {Sum(sub.yes, std::optional(kTakeOne)), Sum(sub.no, std::optional(kTakeOne))};
    case Fragment::kWrapV: return {Sum(sub.yes, std::optional(kTakeOne)), kNone};
    case Fragment::kWrapD:
    case Fragment::kWrapJ: // DUP or SIZE, and IF
        return {after(kPush + kTakeOne, sub.yes), kPush + kTakeOne};
    default: // hashes: SIZE 32 EQUALVERIFY, the function, the hash, EQUAL
        return {kPush + kPush + kTakeTwo + kPush + kTakeOne, kNone};
    }
}

size_t PushSize(int64_t number)
{
    Bytes script;
    AppendPushInt(script, number);
    return script.size();
}

/** Bytes of the fragment itself. */
size_t OwnSize(const Node& node, Context context)
{
    const bool tapscript = context == Context::kTapscript;
    switch (node.fragment) {
    case Fragment::kFalse:
    case Fragment::kTrue: return 1;
    case Fragment::kKey: return tapscript ? 33 : 34;
    case Fragment::kKeyHash: return 3 + 21;
    case Fragment::kOlder:
    case Fragment::kAfter: return PushSize(node.number) + 1;
    case Fragment::kSha256:
    case Fragment::kHash256:
    case Fragment::kRipemd160:
    case Fragment::kHash160: return 6 + 1 + node.hash.size();
    case Fragment::kMulti:
        if (tapscript) return 34 * node.keys.size() + PushSize(node.number) + 1;
        return PushSize(node.number) + 34 * node.keys.size() +
               PushSize(static_cast<int64_t>(node.keys.size())) + 1;
    case Fragment::kThresh: return node.subs.size() + PushSize(node.number);
    default: return OwnOps(node);
    }
}

/** Whether the largest cost of a satisfaction is allowed. P2WSH bounds the operations and the items
 *  of the witness, tapscript the items on the stack. */
bool IsWithinLimits(const Node& node, Context context)
{
    constexpr int32_t kMaxWitnessItems = 100; // of a standard P2WSH input
    const auto& stack = node.stack.yes;
    if (context == Context::kTapscript) {
        return !stack || stack->most + (HasValue(node) ? 1 : 0) <= int32_t{kMaxStackSize};
    }
    if (stack && stack->start + (HasValue(node) ? 1 : 0) > kMaxWitnessItems) return false;
    const auto& keys = node.key_ops.yes;
    return !keys || node.ops + keys->count <= kMaxOpsPerScript;
}

bool IsValid(const Node& node, Context context)
{
    return HasBasicType(node) && node.script_size <= MaxScriptSize(context);
}

/** Looks for faults in the order of the script, children before parents. */
class FaultFinder {
public:
    FaultFinder(Context context, std::span<const uint32_t> same_key)
        : m_context(context), m_last(same_key.size(), 0), m_same_key(same_key)
    {
    }

    void Search(const Node& node)
    {
        const uint32_t before = m_keys;
        for (const uint32_t key : node.keys) {
            uint32_t& last = m_last[m_same_key[key]];
            m_latest_repeat = std::max(m_latest_repeat, last);
            last = ++m_keys;
        }
        for (const Node& sub : node.subs) Search(sub);
        m_repeats = m_latest_repeat > before;
        m_is_sane = IsValid(node, m_context) && IsWithinLimits(node, m_context) &&
                    node.type.Has("mk") && !m_repeats;
        if (m_is_sane || m_first != nullptr) return;
        m_first = &node;
        m_first_repeats = m_repeats;
    }

    /** Whether the node searched last is sane. Rules for a root alone are not checked. */
    bool IsSane() const { return m_is_sane; }
    /** The first node that is not sane, and whether a key occurs twice in it; null: none. */
    const Node* First() const { return m_first; }
    bool FirstRepeats() const { return m_first_repeats; }

private:
    const Context m_context;
    std::vector<uint32_t> m_last; //!< for each different key: the number of its last occurrence
    const std::span<const uint32_t> m_same_key;
    uint32_t m_keys = 0;          //!< occurrences so far, each numbered from 1
    uint32_t m_latest_repeat = 0; //!< highest number of an occurrence that was repeated
    bool m_repeats = false;
    bool m_is_sane = false;
    const Node* m_first = nullptr;
    bool m_first_repeats = false;
};

size_t CanSatisfy(const std::vector<Node>& nodes)
{
    return static_cast<size_t>(std::ranges::count_if(nodes, IsSatisfiable));
}

} // namespace

size_t MaxScriptSize(Context context) { return context == Context::kTapscript ? 329'482 : 3'600; }

bool HasBasicType(const Node& node) { return (node.type & kBasic).Any(); }

bool IsSatisfiable(const Node& node) { return node.stack.yes.has_value(); }

void Complete(Node& node, Context context)
{
    node.type = TypeOf(node, context);
    node.height = 1;
    for (const Node& sub : node.subs) node.height = std::max(node.height, sub.height + 1);
    node.ops = OwnOps(node);
    node.script_size = OwnSize(node, context);
    for (const Node& sub : node.subs) {
        node.ops += sub.ops;
        node.script_size += sub.script_size;
    }
    if (!HasBasicType(node)) return;
    if (node.fragment == Fragment::kThresh && CanSatisfy(node.subs) > kMaxStackSize) {
        // Each such child takes an item, satisfied or not. Without this bound time is quadratic.
        constexpr StackUse kTooMuch{kMaxStackSize + 1, kMaxStackSize + 1};
        node.stack = {kTooMuch, kTooMuch};
    } else if (node.subs.size() < 2 && node.fragment != Fragment::kThresh) {
        node.key_ops = SimpleKeyOps(node);
        node.stack = SimpleStack(node, context);
    } else {
        node.key_ops = CombinedWays(node, &Node::key_ops, kKeyGlue);
        node.stack = CombinedWays(node, &Node::stack, kStackGlue);
    }
}

FaultAt FindFault(const Node& root, Context context, std::span<const uint32_t> same_key)
{
    FaultFinder finder(context, same_key);
    finder.Search(root);
    const bool sane = finder.IsSane() && root.type.Has("Bs");
    if (sane && IsSatisfiable(root)) return {};
    const Node& where = finder.First() != nullptr ? *finder.First() : root;
    const auto found = [&](Fault fault) { return FaultAt{fault, &where}; };
    if (!IsValid(where, context)) return found(Fault::kInvalid);
    if (sane) return found(Fault::kUnsatisfiable);
    if (!where.type.Has("m")) return found(Fault::kMalleable);
    if (&where == &root && !where.type.Has("s")) return found(Fault::kUnsigned);
    if (!where.type.Has("k")) return found(Fault::kMixedLocks);
    if (finder.First() != nullptr && finder.FirstRepeats()) return found(Fault::kRepeatedKey);
    return found(IsWithinLimits(where, context) ? Fault::kNoCondition : Fault::kTooExpensive);
}

} // namespace ibd::miniscript
