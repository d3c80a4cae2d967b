// CandidateSet against a model that looks at every block of a random tree every time.
#include "validation/candidate_set.h"

#include "support/testdata.h"

#include "support/catch.h"
#include <algorithm>

namespace ibd::test {

namespace {

/** A tree of headers without proof of work, all with data and in their order of arrival. */
class RandomTree {
public:
    RandomTree() : tree(m_params) { Store(*tree.Genesis()); }

    HeaderNode& Grow(HeaderNode& parent)
    {
        BlockHeader header = parent.Header();
        header.prev_hash = parent.hash;
        header.nonce = ++m_nonce;
        HeaderNode* node = tree.Insert(header, header.Hash());
        REQUIRE(node);
        Store(*node);
        return *node;
    }
    HeaderNode& Recent()
    {
        return *tree.NodeAt(tree.Size() - 1 - TestRng()() % std::min<size_t>(tree.Size(), 6));
    }
    HeaderNode& Any() { return *tree.NodeAt(TestRng()() % tree.Size()); }

private:
    void Store(HeaderNode& node)
    {
        node.tx_count = 1;
        node.chain_tx_count = (node.prev ? node.prev->chain_tx_count : 0) + 1;
        node.status |= kHaveData;
        node.RaiseValidity(kValidTransactions);
        tree.SetSequence(node, tree.NextSequenceId());
    }

    const ChainParams m_params = MakeChainParams(Network::kRegtest);
    uint32_t m_nonce = 0;

public:
    HeaderTree tree;
};

/** The best block that can be connected to the chain, by looking at all of them. */
HeaderNode* BestOfAll(const HeaderTree& tree, const Chain& active)
{
    HeaderNode* best = active.Tip();
    for (size_t i = 0; i < tree.Size(); ++i) {
        HeaderNode* node = tree.NodeAt(i);
        bool complete = !node->Failed();
        for (const HeaderNode* at = node; complete && !active.Contains(at); at = at->prev) {
            complete = at->HasData();
        }
        if (complete && LessPreferred(*best, *node)) best = node;
    }
    return best;
}

} // namespace

TEST_CASE("the best candidate is the best block that can be connected")
{
    RandomTree random;
    HeaderTree& tree = random.tree;
    Chain active;
    active.SetTip(tree.Genesis());
    CandidateSet candidates;
    candidates.Rebuild(tree, active.Tip());
    size_t moves = 0, failures = 0;
    for (int step = 0; step < 3000; ++step) {
        const auto kind = TestRng()() % 20;
        if (kind < 14) {
            HeaderNode& parent = TestRng()() % 2 == 0 ? *active.Tip() : random.Any();
            if (!parent.Failed()) candidates.Add(random.Grow(parent), active.Tip());
        } else if (kind < 16) {
            HeaderNode& node = random.Recent();
            if (!active.Contains(&node)) tree.MarkFailed(&node);
        } else if (kind < 17) {
            random.Any().status &= ~uint32_t{kHaveData}; // pruned
            candidates.Rebuild(tree, active.Tip());
        } else if (kind < 18) {
            HeaderNode& node = random.Any();
            candidates.Remove(node);
            tree.SetSequence(node, tree.NextSequenceId());
            candidates.Rebuild(tree, active.Tip());
        }
        if (TestRng()() % 4 != 0) continue; // more than one change at a time
        std::vector<const HeaderNode*> failed;
        HeaderNode* best = candidates.Best(active, failed);
        REQUIRE(best == BestOfAll(tree, active));
        failures += failed.size();
        for (const HeaderNode* node : failed) REQUIRE(node->Failed());
        REQUIRE(candidates.LeadsToBest(*best));
        REQUIRE(candidates.LeadsToBest(*tree.Genesis()));
        if (best != active.Tip()) {
            REQUIRE(candidates.LeadsToBest(*active.Tip()) ==
                    (best->Ancestor(active.Height()) == active.Tip()));
            active.SetTip(best);
            candidates.Prune(*best);
            ++moves;
        }
    }
    CHECK(moves > 100);
    CHECK(failures > 0);
}

TEST_CASE("what leaves the chain too far down can be left aside")
{
    RandomTree random;
    Chain active;
    HeaderNode* main = random.tree.Genesis();
    std::vector<HeaderNode*> chain{main};
    for (int i = 0; i < 10; ++i) chain.push_back(main = &random.Grow(*main));
    active.SetTip(main);
    CandidateSet candidates;
    candidates.Rebuild(random.tree, active.Tip());
    REQUIRE(candidates.Size() == 1);
    std::vector<HeaderNode*> branches; // from each block, better than the chain
    for (HeaderNode* from : chain) {
        HeaderNode* at = from;
        while (at->height < 12) candidates.Add(*(at = &random.Grow(*at)), active.Tip());
        branches.push_back(at);
    }
    candidates.RemoveForksBelow(active, 7);
    std::vector<const HeaderNode*> failed;
    for (int height = 10; height >= 7; --height) {
        // Branches came from the lowest up, and of equals the first is the best.
        const auto best = static_cast<size_t>(7 + (10 - height));
        CHECK(candidates.Best(active, failed) == branches[best]);
        candidates.Remove(*branches[best]);
        candidates.Remove(*branches[best]->prev);
    }
    CHECK(candidates.Best(active, failed) == active.Tip());
    CHECK(failed.empty());
}

} // namespace ibd::test
