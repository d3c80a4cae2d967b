// The tree's shape, ancestry and bookkeeping, on made-up headers against plain loops.
#include "chain/chain.h"
#include "chain_data.h"
#include "consensus/pow.h"

#include <algorithm>
#include <set>

using namespace ibd;
using namespace ibd::test;

namespace {

const HeaderNode* SlowAncestor(const HeaderNode* node, int height)
{
    while (node && node->height > height) node = node->prev;
    return node && node->height == height ? node : nullptr;
}

/** A random tree of `n` nodes with long branches. */
std::vector<HeaderNode*> RandomTree(HeaderTree& tree, size_t n)
{
    std::vector<HeaderNode*> nodes{tree.Genesis()};
    for (size_t i = 1; i < n; ++i) {
        const bool fork = TestRng()() % 50 == 0;
        HeaderNode* prev = fork ? nodes[TestRng()() % nodes.size()] : nodes.back();
        nodes.push_back(Grow(tree, prev, static_cast<uint32_t>(i)));
    }
    return nodes;
}

} // namespace

TEST_CASE("ancestors, common ancestors and lookup equal the slow walk")
{
    HeaderTree tree(ParamsOf(Network::kRegtest));
    const auto nodes = RandomTree(tree, 9000);
    CHECK(tree.Size() == nodes.size());
    for (int i = 0; i < 20000; ++i) {
        const HeaderNode* a = nodes[TestRng()() % nodes.size()];
        const HeaderNode* b = nodes[TestRng()() % nodes.size()];
        const int height = static_cast<int>(TestRng()() % (a->height + 2));
        REQUIRE(a->Ancestor(height) == SlowAncestor(a, height));
        REQUIRE(tree.Find(a->hash) == a);
        if (i % 20 != 0) continue;
        const HeaderNode* x = a;
        const HeaderNode* y = b;
        while (x != y) (x->height >= y->height ? x : y) = (x->height >= y->height ? x : y)->prev;
        REQUIRE(LastCommonAncestor(a, b) == x);
    }
    CHECK(tree.Genesis()->Ancestor(-1) == nullptr);
    CHECK(LastCommonAncestor(nullptr, tree.Genesis()) == nullptr);
    CHECK(tree.Find(BlockHash{}) == nullptr);
}

TEST_CASE("skip pointers reach genesis in few steps")
{
    HeaderTree tree(ParamsOf(Network::kRegtest));
    HeaderNode* tip = tree.Genesis();
    for (uint32_t i = 1; i < 20000; ++i) tip = Grow(tree, tip, i);
    for (const HeaderNode* node = tip; node->height > 0; node = node->prev) {
        REQUIRE(node->skip);
        REQUIRE(node->skip->height < node->height);
    }
    int steps = 0;
    for (const HeaderNode* n = tip; n->height > 0; n = n->skip) ++steps;
    CHECK(steps < 20);
}

TEST_CASE("work adds up, the best header has the most, ties go to the first")
{
    HeaderTree tree(ParamsOf(Network::kRegtest));
    HeaderNode* a = Grow(tree, tree.Genesis(), 1);
    HeaderNode* b = Grow(tree, tree.Genesis(), 2);
    CHECK(a->chain_work == BlockWork(0x207fffff) + BlockWork(0x207fffff));
    CHECK(tree.BestHeader() == a);
    b = Grow(tree, b, 3, 0x1d00ffff);
    CHECK(tree.BestHeader() == b);
    CHECK(LessPreferred(*a, *b));
    CHECK(tree.Insert(a->Header(), a->hash) == a);
    CHECK(tree.Insert(FakeHeader(BlockHash(std::array<uint8_t, 32>{1}), 1, 1), {}) == nullptr);
    HeaderNode* c = Grow(tree, a, 4);
    HeaderNode* d = Grow(tree, a, 5);
    tree.SetSequence(*c, tree.NextSequenceId());
    tree.SetSequence(*d, tree.NextSequenceId());
    CHECK(LessPreferred(*d, *c));
    CHECK(!LessPreferred(*c, *d));
    CHECK(!LessPreferred(*c, *c));
}

TEST_CASE("failure reaches descendants only, and can be taken back")
{
    HeaderTree tree(ParamsOf(Network::kRegtest));
    HeaderNode* trunk = Grow(tree, tree.Genesis(), 1);
    std::vector<HeaderNode*> bad{Grow(tree, trunk, 2)};
    for (uint32_t i = 3; i < 10; ++i) bad.push_back(Grow(tree, bad.back(), i));
    HeaderNode* good = Grow(tree, trunk, 100);
    CHECK(tree.BestHeader() == bad.back());

    tree.MarkFailed(bad[2]);
    CHECK(tree.BestHeader() == bad[1]);
    CHECK((bad[2]->status & kFailedMask) == kFailedValid);
    for (size_t i = 3; i < bad.size(); ++i) CHECK((bad[i]->status & kFailedMask) == kFailedChild);
    CHECK(!good->Failed());
    CHECK(!bad[2]->RaiseValidity(kValidScripts));

    // A header on a failed one is refused, or marked when it comes from disk.
    CHECK(Grow(tree, bad.back(), 11)->Failed());
    const auto again = tree.Accept(bad[2]->Header(), kLateClock);
    REQUIRE(again);
    CHECK(again->reason == "duplicate-invalid");

    tree.ClearFailure(bad[5]);
    CHECK(!bad[2]->Failed());
    CHECK(!bad.back()->Failed());
    CHECK(tree.BestHeader()->prev == bad.back());
}

TEST_CASE("tips, locator and forks")
{
    HeaderTree tree(ParamsOf(Network::kRegtest));
    const auto nodes = RandomTree(tree, 3000);
    std::set<const HeaderNode*> parents;
    for (const HeaderNode* node : nodes) parents.insert(node->prev);
    const auto tips = tree.Tips();
    CHECK(tips.size() == nodes.size() - parents.size() + 1); // the null parent is no node
    for (const HeaderNode* tip : tips) CHECK(parents.count(tip) == 0);

    const auto sorted = tree.ByHeight();
    CHECK(std::is_sorted(sorted.begin(), sorted.end(),
                         [](const auto* a, const auto* b) { return a->height < b->height; }));
    Chain chain;
    CHECK(chain.Height() == -1);
    CHECK(chain.Tip() == nullptr);
    for (HeaderNode* tip : tips) {
        chain.SetTip(tip);
        REQUIRE(chain.Height() == tip->height);
        for (int h = 0; h <= tip->height; ++h) REQUIRE(chain[h] == tip->Ancestor(h));
        CHECK(chain[tip->height + 1] == nullptr);
        CHECK(chain[-1] == nullptr);
        CHECK(chain.Next(tip) == nullptr);
        for (HeaderNode* other : tips) {
            HeaderNode* fork = chain.FindFork(other);
            REQUIRE(fork == LastCommonAncestor(tip, other));
            if (other != tip) CHECK(chain.Next(other) == nullptr);
            if (fork != tip) CHECK(chain.Next(fork)->prev == fork);
        }
    }
    HeaderNode* tip = tree.BestHeader();
    const auto locator = BlockLocator(tip);
    CHECK(locator.front() == tip->hash);
    CHECK(locator.back() == tree.Genesis()->hash);
    CHECK(locator.size() < 40);
    CHECK(locator[9] == tip->Ancestor(tip->height - 9)->hash);
    HeaderTree other(ParamsOf(Network::kRegtest));
    CHECK(other.FindFork(locator) == other.Genesis());
    CHECK(tree.FindFork(locator) == tip);
    CHECK(tree.FindFork({}) == nullptr);
}

TEST_CASE("a million headers take less than 200 MB")
{
    CHECK(sizeof(HeaderNode) <= 176);
    HeaderTree tree(ParamsOf(Network::kRegtest));
    HeaderNode* tip = tree.Genesis();
    for (uint32_t i = 1; i < 1'000'000; ++i) {
        const BlockHeader header = FakeHeader(tip->hash, tip->time + 1, i);
        // Any distinct hash suffices; hashing a million headers would take most of the test's time.
        std::array<uint8_t, 32> hash{};
        WriteLE64(hash.data(), i * uint64_t{0x9e3779b97f4a7c15});
        WriteLE64(hash.data() + 8, i);
        tip = tree.Insert(header, BlockHash(hash));
    }
    CHECK(tree.Size() == 1'000'000);
    CHECK(tree.MemoryUsage() < 200'000'000);
    CHECK(tip->Ancestor(123'456)->height == 123'456);
}

TEST_CASE("median time past equals the middle of the sorted times")
{
    HeaderTree tree(ParamsOf(Network::kRegtest));
    HeaderNode* tip = tree.Genesis();
    std::vector<uint32_t> times{tip->time};
    for (uint32_t i = 1; i < 60; ++i) {
        const uint32_t time = tree.Genesis()->time + static_cast<uint32_t>(TestRng()() % 100'000);
        const BlockHeader header = FakeHeader(tip->hash, time, i);
        tip = tree.Insert(header, header.Hash());
        times.push_back(time);
        const size_t n = std::min<size_t>(times.size(), 11);
        std::vector<uint32_t> last(times.end() - static_cast<long>(n), times.end());
        std::sort(last.begin(), last.end());
        REQUIRE(tip->MedianTimePast() == last[n / 2]);
        const NodeAncestry ancestry(tip);
        REQUIRE(ancestry.MedianTimePast() == last[n / 2]);
        REQUIRE(ancestry.Ancestry::MedianTimePast(tip->height) == last[n / 2]);
    }
}
