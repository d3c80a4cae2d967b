// Failed headers and the best of the others, against a naive reference that looks at every header.
#include "chain/header_tree.h"
#include "chain_data.h"
#include "consensus/pow.h"

#include <algorithm>
#include <set>

using namespace ibd;
using namespace ibd::test;

namespace {

size_t Below(size_t n) { return TestRng()() % n; }

/** Sweeps over all headers of a tree; keeps statuses and the best header of its own. */
class NaiveReference {
public:
    explicit NaiveReference(HeaderTree& tree) : m_tree(tree) { Inserted(); }

    void Inserted()
    {
        for (size_t i = m_failed.size(); i < m_tree.Size(); ++i) {
            HeaderNode* node = m_tree.NodeAt(i);
            const bool child = node->prev && Failed(node->prev);
            m_failed.push_back(child ? uint32_t{kFailedChild} : 0);
            if (!m_best || (m_failed[i] == 0 && m_best->chain_work < node->chain_work)) {
                m_best = node;
            }
        }
    }
    void MarkFailed(HeaderNode* node)
    {
        Set(node, kFailedValid);
        ForAll([&](HeaderNode* other) {
            if (other->prev && !Failed(other) && Failed(other->prev)) Set(other, kFailedChild);
        });
        ChooseBest();
    }
    void ClearFailure(HeaderNode* node)
    {
        ForAll([&](HeaderNode* other) {
            const bool above = other->Ancestor(node->height) == node;
            const bool below = node->Ancestor(other->height) == other;
            if (above || below) Set(other, 0);
        });
        ChooseBest();
    }
    /** The statuses written into nodes, passed to descendants. */
    void Adopt()
    {
        ForAll([&](HeaderNode* node) {
            Set(node, node->status & kFailedMask);
            if (node->prev && !Failed(node) && Failed(node->prev)) Set(node, kFailedChild);
        });
        ChooseBest();
    }
    void ChooseBest()
    {
        HeaderNode* best = m_tree.Genesis();
        ForAll([&](HeaderNode* node) {
            if (!Failed(node) && LessPreferred(*best, *node)) best = node;
        });
        if (Failed(m_best) || m_best->chain_work < best->chain_work) m_best = best;
    }
    /** Requires that the tree agrees; `changed` are the nodes whose status differs from `before`.
     */
    void Compare(const std::vector<uint32_t>& before, const std::vector<HeaderNode*>& changed)
    {
        std::set<const HeaderNode*> expected;
        ForAll([&](HeaderNode* node) {
            REQUIRE((node->status & kFailedMask) == m_failed[Index(node)]);
            if (before[Index(node)] != node->status) expected.insert(node);
        });
        REQUIRE(changed.size() == expected.size());
        REQUIRE(std::set<const HeaderNode*>(changed.begin(), changed.end()) == expected);
        REQUIRE(m_tree.BestHeader() == m_best);
    }
    std::vector<uint32_t> Statuses()
    {
        std::vector<uint32_t> out;
        ForAll([&](HeaderNode* node) { out.push_back(node->status); });
        return out;
    }

private:
    template <typename F>
    void ForAll(F visit)
    {
        for (size_t i = 0; i < m_tree.Size(); ++i) visit(m_tree.NodeAt(i));
    }
    size_t Index(const HeaderNode* node) const { return node->nonce; } // Sprout() numbers them
    bool Failed(const HeaderNode* node) const { return m_failed[Index(node)] != 0; }
    void Set(const HeaderNode* node, uint32_t failed) { m_failed[Index(node)] = failed; }

    HeaderTree& m_tree;
    std::vector<uint32_t> m_failed; //!< by index
    HeaderNode* m_best = nullptr;
};

/** A new header somewhere, mostly at a tip, numbered by its nonce. */
void Sprout(HeaderTree& tree)
{
    const bool fork = Below(4) == 0;
    HeaderNode* prev = tree.NodeAt(fork ? Below(tree.Size()) : tree.Size() - 1);
    const uint32_t bits = Below(3) == 0 ? 0x207fffff : 0x1f00ffff;
    Grow(tree, prev, static_cast<uint32_t>(tree.Size()), bits);
}

/** A tree whose genesis is number 0 too, although its nonce is another number. */
std::unique_ptr<HeaderTree> NumberedTree()
{
    auto tree = std::make_unique<HeaderTree>(ParamsOf(Network::kRegtest));
    tree->Genesis()->nonce = 0;
    return tree;
}

} // namespace

TEST_CASE("failed headers, what changed, and the best header equal those of the naive reference")
{
    size_t marked = 0, cleared = 0;
    for (int round = 0; round < 60; ++round) {
        const auto tree = NumberedTree();
        NaiveReference reference(*tree);
        for (int step = 0; step < 120; ++step) {
            for (size_t n = Below(4); n > 0; --n) Sprout(*tree);
            reference.Inserted();
            const std::vector<uint32_t> before = reference.Statuses();
            HeaderNode* node = tree->NodeAt(Below(tree->Size()));
            std::vector<HeaderNode*> changed;
            const size_t kind = Below(5);
            // Mostly high up, where an attacker's blocks are.
            if (Below(2) == 0) node = tree->BestHeader();
            if (kind < 2 && node->prev) {
                changed = tree->MarkFailed(node);
                reference.MarkFailed(node);
                marked += changed.size();
            } else if (kind == 2) {
                changed = tree->ClearFailure(node);
                reference.ClearFailure(node);
                cleared += changed.size();
            } else {
                tree->SetSequence(*node, kind == 3 ? tree->NextSequenceId() : -step);
            }
            reference.Compare(before, changed);
        }
    }
    CHECK(marked > 1000);
    CHECK(cleared > 500);
}

TEST_CASE("failure bits written by a loader are handed down as the naive reference does")
{
    for (int round = 0; round < 100; ++round) {
        const auto tree = NumberedTree();
        for (int i = 0; i < 100; ++i) Sprout(*tree);
        NaiveReference reference(*tree);
        for (size_t n = Below(6); n > 0; --n) {
            HeaderNode* node = tree->NodeAt(1 + Below(tree->Size() - 1));
            node->status |= Below(2) == 0 ? kFailedValid : kFailedChild;
        }
        std::vector<uint32_t> before = reference.Statuses();
        reference.Adopt();
        reference.Compare(before, tree->AdoptStatuses());
        // And continues from there.
        HeaderNode* node = tree->NodeAt(1 + Below(tree->Size() - 1));
        before = reference.Statuses();
        reference.ClearFailure(node);
        reference.Compare(before, tree->ClearFailure(node));
        before = reference.Statuses();
        node = tree->BestHeader();
        if (!node->prev) continue;
        reference.MarkFailed(node);
        reference.Compare(before, tree->MarkFailed(node));
    }
}

TEST_CASE("a block that fails again, or below which all failed, changes its own status at most")
{
    HeaderTree tree(ParamsOf(Network::kRegtest));
    HeaderNode* a = Grow(tree, tree.Genesis(), 1);
    HeaderNode* b = Grow(tree, a, 2);
    HeaderNode* c = Grow(tree, b, 3);
    CHECK(tree.MarkFailed(a).size() == 3);
    CHECK(tree.MarkFailed(a).empty());
    CHECK(tree.MarkFailed(b) == std::vector<HeaderNode*>{b});
    CHECK((b->status & kFailedMask) == kFailedValid);
    CHECK((c->status & kFailedMask) == kFailedChild);
    CHECK(tree.BestHeader() == tree.Genesis());
    CHECK(tree.ClearFailure(tree.Genesis()).size() == 3);
    CHECK(tree.ClearFailure(c).empty());
    CHECK(tree.BestHeader() == c);
}

TEST_CASE("minimum difficulty over the tree equals that over a plain array, on testnet3")
{
    const ConsensusParams& params = ParamsOf(Network::kTestnet3).consensus;
    const uint32_t limit = params.pow_limit.ToCompact();
    HeaderTree tree(ParamsOf(Network::kTestnet3));
    HeaderNode* tip = tree.Genesis();
    std::vector<const HeaderNode*> array{tip};
    for (uint32_t i = 1; i < 5000; ++i) {
        const bool real = Below(400) == 0;
        tip = Grow(tree, tip, i, real ? 0x1c00ffff - static_cast<uint32_t>(Below(9)) : limit);
        array.push_back(tip);
    }
    for (size_t height = 0; height < array.size(); ++height) {
        if ((height + 1) % 2016 == 0) continue;
        size_t at = height;
        while (at % 2016 != 0 && array[at]->bits == limit) --at;
        const uint32_t time = array[height]->time;
        REQUIRE(GetNextWorkRequired(NodeAncestry(array[height]), time + 1, params) ==
                array[at]->bits);
        REQUIRE(GetNextWorkRequired(NodeAncestry(array[height]), time + 1201, params) == limit);
    }
}
