// See miniscript_node.h. The tables are those of BIP379.
#include "keys/miniscript_node.h"

#include <algorithm>

namespace ibd::miniscript {

namespace {

constexpr uint32_t kLockByTime = 1 << 22;          //!< of a relative lock (BIP68)
constexpr uint32_t kFirstLockTime = 500'000'000;   //!< an absolute lock from here on is a time
constexpr Properties kBasic = "BVKW", kLocks = "ghij", kAllLocks = "ghijk";

/** Whether locks of one kind, by time and by height, would be needed together. */
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

Properties LeafType(const Node& node)
{
    using P = Properties;
    switch (node.fragment) {
    case Fragment::kFalse: return "Bzudemsxk";
    case Fragment::kTrue: return "Bzufmxk";
    case Fragment::kKey: return "Konudemsxk";
    case Fragment::kOlder: return P("Bzfmxk") | P(node.number & kLockByTime ? "g" : "h");
    case Fragment::kAfter: return P("Bzfmxk") | P(node.number >= kFirstLockTime ? "i" : "j");
    case Fragment::kMulti: return "Bnudemsk";
    default: return "Bonudmk"; // hashes
    }
}

Properties WrappedType(Fragment wrapper, Properties x)
{
    using P = Properties;
    const Properties locks = x & kAllLocks;
    switch (wrapper) {
    case Fragment::kWrapA: return P("W").If(x.Has("B")) | locks | (x & "udfems") | "x";
    case Fragment::kWrapS: return P("W").If(x.Has("Bo")) | locks | (x & "udfemsx");
    case Fragment::kWrapC: return P("B").If(x.Has("K")) | locks | (x & "ondfem") | "us";
    case Fragment::kWrapD:
        return P("B").If(x.Has("Vz")) | P("o").If(x.Has("z")) | P("e").If(x.Has("f")) | locks |
               (x & "ms") | "ndx";
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
           (all & "m").If(x.Has("e") && any.Has("s")) | (z & (x | y) & "s") | "x" |
           (any & kLocks) | P("k").If(all.Has("k") && !Clash(x, y));
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

Properties TypeOf(const Node& node)
{
    const auto type = [&](size_t i) { return node.subs[i].type; };
    switch (node.fragment) {
    case Fragment::kWrapA:
    case Fragment::kWrapS:
    case Fragment::kWrapC:
    case Fragment::kWrapD:
    case Fragment::kWrapV:
    case Fragment::kWrapJ:
    case Fragment::kWrapN: return WrappedType(node.fragment, type(0));
    case Fragment::kAndV:
    case Fragment::kAndB: return AndType(node.fragment, type(0), type(1));
    case Fragment::kOrB:
    case Fragment::kOrC:
    case Fragment::kOrD:
    case Fragment::kOrI: return OrType(node.fragment, type(0), type(1));
    case Fragment::kAndOr: return AndOrType(type(0), type(1), type(2));
    case Fragment::kThresh: return ThreshType(node);
    default: return LeafType(node);
    }
}

MaybeCount Sum(MaybeCount a, MaybeCount b) { return a && b ? MaybeCount(*a + *b) : std::nullopt; }

MaybeCount Most(MaybeCount a, MaybeCount b) { return a && b ? std::max(a, b) : a ? a : b; }

/** The cost of thresh: `number` of the children are satisfied, the others are not. */
Ways ThreshWays(const Node& node, Ways Node::*kind)
{
    std::vector<MaybeCount> by_satisfied{0};
    for (const Node& sub : node.subs) {
        const Ways& ways = sub.*kind;
        std::vector<MaybeCount> next(by_satisfied.size() + 1);
        for (size_t i = 0; i < next.size(); ++i) {
            if (i < by_satisfied.size()) next[i] = Sum(by_satisfied[i], ways.no);
            if (i > 0) next[i] = Most(next[i], Sum(by_satisfied[i - 1], ways.yes));
        }
        by_satisfied = std::move(next);
    }
    return {by_satisfied[node.number], by_satisfied[0]};
}

/** The cost of a node that combines others, without its own part. */
Ways CombinedWays(const Node& node, Ways Node::*kind)
{
    if (node.fragment == Fragment::kThresh) return ThreshWays(node, kind);
    const Ways &x = node.subs[0].*kind, &y = node.subs[1].*kind;
    switch (node.fragment) {
    case Fragment::kAndV: return {Sum(x.yes, y.yes), std::nullopt};
    case Fragment::kAndB: return {Sum(x.yes, y.yes), Sum(x.no, y.no)};
    case Fragment::kOrB:
        return {Most(Sum(x.yes, y.no), Sum(x.no, y.yes)), Sum(x.no, y.no)};
    case Fragment::kOrC: return {Most(x.yes, Sum(x.no, y.yes)), std::nullopt};
    case Fragment::kOrD: return {Most(x.yes, Sum(x.no, y.yes)), Sum(x.no, y.no)};
    case Fragment::kOrI: return {Most(x.yes, y.yes), Most(x.no, y.no)};
    default: break;
    }
    const Ways& z = node.subs[2].*kind; // andor
    return {Most(Sum(x.yes, y.yes), Sum(x.no, z.yes)), Sum(x.no, z.no)};
}

/** Non-push opcodes of the fragment itself. */
uint32_t OwnOps(const Node& node)
{
    switch (node.fragment) {
    case Fragment::kFalse:
    case Fragment::kTrue:
    case Fragment::kKey:
    case Fragment::kAndV: return 0;
    case Fragment::kWrapV: return node.subs[0].type.Has("x") ? 1 : 0; // else a VERIFY form
    case Fragment::kOlder:
    case Fragment::kAfter:
    case Fragment::kMulti:
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
    default: return 4; // j, hashes
    }
}

/** The keys and witness items of a node with at most one child. */
void SetSimpleWays(Node& node)
{
    constexpr MaybeCount kNone;
    const auto set = [&](Ways keys, Ways items) { node.keys = keys, node.items = items; };
    const Node* const sub = node.subs.empty() ? nullptr : &node.subs[0];
    const auto all = static_cast<uint32_t>(node.data.size());
    switch (node.fragment) {
    case Fragment::kFalse: return set({kNone, 0}, {kNone, 0});
    case Fragment::kTrue:
    case Fragment::kOlder:
    case Fragment::kAfter: return set({0, kNone}, {0, kNone});
    case Fragment::kKey: return set({0, 0}, {1, 1});
    case Fragment::kMulti: return set({all, all}, {node.number + 1, node.number + 1});
    case Fragment::kWrapD: return set({sub->keys.yes, 0}, {Sum(sub->items.yes, 1), 1});
    case Fragment::kWrapJ: return set({sub->keys.yes, 0}, {sub->items.yes, 1});
    case Fragment::kWrapV: return set({sub->keys.yes, kNone}, {sub->items.yes, kNone});
    case Fragment::kWrapA:
    case Fragment::kWrapS:
    case Fragment::kWrapC:
    case Fragment::kWrapN: return set(sub->keys, sub->items);
    default: return set({0, kNone}, {1, kNone}); // hashes
    }
}

} // namespace

bool Complete(Node& node)
{
    node.type = TypeOf(node);
    if (!(node.type & kBasic).Any()) return false;
    node.ops = OwnOps(node);
    for (const Node& sub : node.subs) node.ops += sub.ops;
    if (node.subs.size() < 2 && node.fragment != Fragment::kThresh) {
        SetSimpleWays(node);
        return true;
    }
    node.keys = CombinedWays(node, &Node::keys);
    node.items = CombinedWays(node, &Node::items);
    if (node.fragment == Fragment::kOrI) { // the choice is an item
        node.items = {Sum(node.items.yes, 1), Sum(node.items.no, 1)};
    }
    return true;
}

} // namespace ibd::miniscript
