// Merkle roots: all lanes at once against one pair at a time, and the duplication flaw.
#include "consensus/merkle.h"
#include "crypto/sha256.h"
#include "support/testdata.h"

#include <cstring>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

std::vector<Uint256> RandomLeaves(size_t n)
{
    std::vector<Uint256> leaves;
    for (size_t i = 0; i < n; ++i) leaves.push_back(Uint256::FromBytes(RandomBytes(32).data()));
    return leaves;
}

Uint256 RootFromBranch(Uint256 node, const std::vector<Uint256>& branch, size_t position)
{
    for (const Uint256& other : branch) {
        uint8_t both[64];
        std::memcpy(both, (position & 1 ? other : node).data(), 32);
        std::memcpy(both + 32, (position & 1 ? node : other).data(), 32);
        node = Uint256(Sha256d(both));
        position /= 2;
    }
    return node;
}

/** The reference: one pair at a time. */
MerkleResult MerkleRootSimple(const std::vector<Uint256>& leaves)
{
    std::vector<Uint256> level = leaves;
    bool mutated = false;
    while (level.size() > 1) {
        std::vector<Uint256> above;
        for (size_t i = 0; i < level.size(); i += 2) {
            const bool paired = i + 1 < level.size();
            if (paired && level[i] == level[i + 1]) mutated = true;
            uint8_t both[64];
            std::memcpy(both, level[i].data(), 32);
            std::memcpy(both + 32, level[paired ? i + 1 : i].data(), 32);
            above.emplace_back(Sha256d(both));
        }
        level = std::move(above);
    }
    return {level.empty() ? Uint256{} : level[0], mutated};
}

} // namespace

TEST_CASE("root, flag and branches for every small count and some large ones")
{
    std::vector<size_t> counts{1000, 4097, 10000};
    for (size_t n = 0; n < 70; ++n) counts.push_back(n);
    for (const size_t n : counts) {
        CAPTURE(n);
        const auto leaves = RandomLeaves(n);
        const MerkleResult slow = MerkleRootSimple(leaves);
        const MerkleResult fast = MerkleRoot(leaves);
        REQUIRE(fast.root == slow.root);
        REQUIRE(!fast.mutated);
        REQUIRE(!slow.mutated);
        if (n == 0) continue;
        const size_t position = TestRng()() % n;
        REQUIRE(RootFromBranch(leaves[position], MerkleBranch(leaves, position), position) ==
                slow.root);
    }
    CHECK(MerkleRoot({}).root.IsNull());
}

TEST_CASE("repeating the tail keeps the root and is noticed (CVE-2012-2459)")
{
    for (size_t n = 1; n < 130; ++n) {
        const auto leaves = RandomLeaves(n);
        // The lowest set bit of n leaves is the size of the last subtree with no partner.
        const size_t tail = n & (~n + 1);
        if (tail == n) continue; // a full tree: doubling it changes the root
        auto doubled = leaves;
        doubled.insert(doubled.end(), leaves.end() - static_cast<long>(tail), leaves.end());
        REQUIRE(MerkleRoot(doubled).root == MerkleRoot(leaves).root);
        REQUIRE(MerkleRoot(doubled).mutated);
        REQUIRE(MerkleRootSimple(doubled).mutated);
    }
    auto equal = RandomLeaves(8);
    equal[3] = equal[2];
    CHECK(MerkleRoot(equal).mutated);
    equal[3] = equal[1];
    CHECK(!MerkleRoot(equal).mutated); // equal, but no pair
}
