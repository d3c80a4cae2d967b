// See satisfy.h. The best satisfaction and the best dissatisfaction of a node are combined from the
// best ones of its children.
#include "keys/miniscript/satisfy.h"

#include "script/script.h"

#include <array>
#include <span>

namespace ibd::miniscript {

namespace {

/** A part of a witness. */
struct Input {
    bool available = true;
    bool has_signature = false;
    bool malleable = false;
    size_t size = 0;    //!< bytes of the items, and one for the length of each
    uint32_t items = 0; //!< in Stacks; 0: none
};

/** Lists of items. A list is one item, or two other lists one after the other, so it takes the same
 *  small space however often its items are used. */
class Stacks {
public:
    uint32_t Of(Bytes item)
    {
        m_lists.push_back({0, static_cast<uint32_t>(m_items.size())});
        m_items.push_back(std::move(item));
        return static_cast<uint32_t>(m_lists.size());
    }
    uint32_t Joined(uint32_t first, uint32_t second)
    {
        if (first == 0 || second == 0) return first + second;
        m_lists.push_back({first, second});
        return static_cast<uint32_t>(m_lists.size());
    }
    /** Drops the lists above the first `mark`, except those of which `kept` consist. */
    void DropAbove(size_t mark, std::span<uint32_t* const> kept)
    {
        std::vector<bool> used(m_lists.size() - mark);
        for (const uint32_t* const list : kept) {
            if (*list > mark) used[*list - mark - 1] = true;
        }
        // A list is made after its parts.
        for (size_t i = used.size(); i-- > 0;) {
            const List& list = m_lists[mark + i];
            if (!used[i] || list.first == 0) continue;
            for (const uint32_t part : {list.first, list.second}) {
                if (part > mark) used[part - mark - 1] = true;
            }
        }
        std::vector<uint32_t> numbers(used.size()); // new ones
        const auto renumber = [&](uint32_t& list) {
            if (list > mark) list = numbers[list - mark - 1];
        };
        size_t size = mark;
        for (size_t i = 0; i < used.size(); ++i) {
            if (!used[i]) continue;
            List list = m_lists[mark + i];
            if (list.first != 0) {
                renumber(list.first);
                renumber(list.second);
            }
            m_lists[size++] = list;
            numbers[i] = static_cast<uint32_t>(size);
        }
        m_lists.resize(size);
        for (uint32_t* const list : kept) renumber(*list);
    }
    size_t Size() const { return m_lists.size(); }
    std::vector<Bytes> Flat(uint32_t list) const
    {
        std::vector<Bytes> out;
        std::vector<uint32_t> to_do;
        if (list != 0) to_do.push_back(list);
        while (!to_do.empty()) {
            const List next = m_lists[to_do.back() - 1];
            to_do.pop_back();
            if (next.first == 0) {
                out.push_back(m_items[next.second]);
            } else {
                to_do.insert(to_do.end(), {next.second, next.first});
            }
        }
        return out;
    }

private:
    struct List {
        uint32_t first;  //!< 0: an item
        uint32_t second; //!< the number of the item, or of the list that follows
    };
    std::vector<List> m_lists; //!< numbered from 1
    std::vector<Bytes> m_items;
};

/** Both ways of a node. */
struct Inputs {
    Input no, yes;
};

Input Unavailable() { return {.available = false}; }

Input Malleable(Input input, bool condition = true)
{
    input.malleable |= condition;
    return input;
}

/** The better of two inputs: first by malleability, then by size. */
Input Better(Input a, Input b)
{
    if (!a.available) return b;
    if (!b.available) return a;
    // An input without a signature must be taken: anyone could put it in place of the other.
    if (!a.has_signature && b.has_signature) return a;
    if (!b.has_signature && a.has_signature) return b;
    if (!a.has_signature) {
        a.malleable = b.malleable = true;
    } else if (a.malleable != b.malleable) {
        return a.malleable ? b : a;
    }
    return a.size <= b.size ? a : b;
}

class Satisfier {
public:
    Satisfier(const Expression& expression, WitnessSource& source)
        : m_context(expression.context), m_keys(expression.keys), m_source(source),
          m_zero(Item({})), m_one(Item({1}))
    {
    }

    Inputs For(const Node& node)
    {
        std::vector<Inputs> subs;
        for (const Node& sub : node.subs) subs.push_back(For(sub));
        switch (node.fragment) {
        case Fragment::kWrapA:
        case Fragment::kWrapS:
        case Fragment::kWrapC:
        case Fragment::kWrapN: return subs[0];
        case Fragment::kWrapD: return {m_zero, Join(subs[0].yes, m_one)};
        case Fragment::kWrapJ: // another dissatisfaction may exist, which anyone could use
            return {Malleable(m_zero, subs[0].no.available && !subs[0].no.has_signature),
                    subs[0].yes};
        case Fragment::kWrapV: return {Unavailable(), subs[0].yes};
        case Fragment::kThresh: return Thresh(node.number, subs);
        case Fragment::kAndOr: return AndOr(subs[0], subs[1], subs[2]);
        case Fragment::kAndV:
        case Fragment::kAndB:
        case Fragment::kOrB:
        case Fragment::kOrC:
        case Fragment::kOrD:
        case Fragment::kOrI: return Pair(node.fragment, subs[0], subs[1]);
        default: return Leaf(node);
        }
    }

    std::vector<Bytes> Flat(const Input& input) const { return m_stacks.Flat(input.items); }

private:
    Input Item(Bytes bytes)
    {
        Input out;
        out.size = bytes.size() + 1;
        out.items = m_stacks.Of(std::move(bytes));
        return out;
    }

    /** `a` below `b` on the stack. */
    Input Join(Input a, const Input& b)
    {
        if (!a.available || !b.available) return Unavailable();
        a.items = m_stacks.Joined(a.items, b.items);
        a.size += b.size;
        a.has_signature |= b.has_signature;
        a.malleable |= b.malleable;
        return a;
    }

    Input Signature(uint32_t key)
    {
        auto signature = m_source.Sign(m_keys[key]);
        if (!signature) return Unavailable();
        Input out = Item(std::move(*signature));
        out.has_signature = true;
        return out;
    }

    Inputs Leaf(const Node& node)
    {
        const auto lock = [](bool kept) {
            return Inputs{Unavailable(), kept ? Input() : Unavailable()};
        };
        switch (node.fragment) {
        case Fragment::kFalse: return {Input(), Unavailable()};
        case Fragment::kTrue: return {Unavailable(), Input()};
        case Fragment::kKey: return {m_zero, Signature(node.keys[0])};
        case Fragment::kKeyHash: {
            const Input key = Item(m_keys[node.keys[0]]);
            return {Join(m_zero, key), Join(Signature(node.keys[0]), key)};
        }
        case Fragment::kOlder: return lock(m_source.IsOlder(node.number));
        case Fragment::kAfter: return lock(m_source.IsAfter(node.number));
        case Fragment::kMulti: return m_context == Context::kTapscript ? MultiA(node) : Multi(node);
        default: break; // hashes
        }
        auto preimage = m_source.FindPreimage(node.fragment, node.hash);
        return {Malleable(Item(Bytes(32))), preimage ? Item(std::move(*preimage)) : Unavailable()};
    }

    /** Adds a child or key to `best`: the best inputs that satisfy 0, 1, ... of them. */
    void Add(std::vector<Input>& best, const Input& no, const Input& yes, size_t most)
    {
        std::vector<Input> next = {Join(best[0], no)};
        for (size_t i = 1; i < best.size(); ++i) {
            next.push_back(Better(Join(best[i], no), Join(best[i - 1], yes)));
        }
        if (best.size() <= most) next.push_back(Join(best.back(), yes));
        best = std::move(next);
    }

    /** Keeps, of the lists above the first `mark`, those of `inputs` alone: Add() makes one or two
     *  for each pair of children, and only a few of them are needed. */
    Inputs Tidy(size_t mark, Inputs inputs)
    {
        m_stacks.DropAbove(mark, std::array{&inputs.no.items, &inputs.yes.items});
        return inputs;
    }

    Inputs Multi(const Node& node)
    {
        std::vector<Input> best = {m_zero}; // CHECKMULTISIG takes an item too many
        for (const uint32_t key : node.keys) Add(best, Input(), Signature(key), node.number);
        Input none = m_zero;
        for (uint32_t i = 0; i < node.number; ++i) none = Join(none, m_zero);
        return {none, best[node.number]};
    }

    /** The last key's signature is the lowest item. */
    Inputs MultiA(const Node& node)
    {
        const size_t mark = m_stacks.Size();
        std::vector<Input> best = {Input()};
        for (auto key = node.keys.rbegin(); key != node.keys.rend(); ++key) {
            Add(best, m_zero, Signature(*key), node.number);
        }
        return Tidy(mark, {best[0], best[node.number]});
    }

    /** The last child's items are the lowest. Children that cannot be satisfied are joined first,
     *  so that they cost little time. */
    Inputs Thresh(size_t wanted, const std::vector<Inputs>& subs)
    {
        const size_t mark = m_stacks.Size();
        std::vector<Input> best = {Input()};
        Input unsatisfied; // of the children since `best` was made
        for (auto sub = subs.rbegin(); sub != subs.rend(); ++sub) {
            const Input no = Join(unsatisfied, sub->no);
            if (!sub->yes.available) {
                unsatisfied = no;
                continue;
            }
            // Each such child takes an item, satisfied or not: the stack has no space for more.
            if (best.size() > kMaxStackSize) return Tidy(mark, {Unavailable(), Unavailable()});
            Add(best, no, Join(unsatisfied, sub->yes), best.size());
            unsatisfied = Input();
        }
        Input none = Unavailable();
        for (size_t i = 0; i < best.size(); ++i) {
            best[i] = Join(best[i], unsatisfied);
            // Anyone could put `best[0]` in place of a dissatisfaction with satisfied children.
            if (i != wanted) none = Better(none, Malleable(best[i], i != 0));
        }
        return Tidy(mark, {none, wanted < best.size() ? best[wanted] : Unavailable()});
    }

    Inputs AndOr(const Inputs& x, const Inputs& y, const Inputs& z)
    {
        return {Better(Join(y.no, x.yes), Join(z.no, x.no)),
                Better(Join(y.yes, x.yes), Join(z.yes, x.no))};
    }

    Inputs Pair(Fragment fragment, const Inputs& x, const Inputs& y)
    {
        switch (fragment) {
        case Fragment::kAndV: return {Join(y.no, x.yes), Join(y.yes, x.yes)};
        case Fragment::kAndB:
            return {Better(Better(Join(y.no, x.no), Malleable(Join(y.yes, x.no))),
                           Malleable(Join(y.no, x.yes))),
                    Join(y.yes, x.yes)};
        case Fragment::kOrB:
            return {Join(y.no, x.no), Better(Better(Join(y.no, x.yes), Join(y.yes, x.no)),
                                             Malleable(Join(y.yes, x.yes)))};
        case Fragment::kOrC: return {Unavailable(), Better(x.yes, Join(y.yes, x.no))};
        case Fragment::kOrD: return {Join(y.no, x.no), Better(x.yes, Join(y.yes, x.no))};
        default: // or_i
            return {Better(Join(x.no, m_one), Join(y.no, m_zero)),
                    Better(Join(x.yes, m_one), Join(y.yes, m_zero))};
        }
    }

    const Context m_context;
    const std::vector<Bytes>& m_keys;
    WitnessSource& m_source;
    Stacks m_stacks;
    const Input m_zero, m_one;
};

} // namespace

std::optional<std::vector<Bytes>> Satisfy(const Expression& expression, WitnessSource& source)
{
    Satisfier satisfier(expression, source);
    const Input best = satisfier.For(expression.root).yes;
    if (!best.available || best.malleable || !best.has_signature) return std::nullopt;
    return satisfier.Flat(best);
}

} // namespace ibd::miniscript
