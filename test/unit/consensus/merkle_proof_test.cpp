// Proofs that transactions are in a block.
#include "consensus/merkle_proof.h"

#include "consensus/merkle.h"
#include "support/testdata.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

std::vector<Uint256> RandomIds(size_t count)
{
    std::vector<Uint256> out;
    for (size_t i = 0; i < count; ++i) out.push_back(Uint256::FromBytes(RandomBytes(32).data()));
    return out;
}

} // namespace

TEST_CASE("a proof shows its transactions under the block's root", "[merkle_proof]")
{
    auto& rng = TestRng();
    for (size_t count = 1; count < 70; count += count < 20 ? 1 : 7) {
        for (int round = 0; round < 8; ++round) {
            const std::vector<Uint256> ids = RandomIds(count);
            std::vector<bool> shown;
            std::vector<ProvenTx> right;
            const uint64_t of_eight = rng.Below(9);
            for (uint32_t i = 0; i < count; ++i) {
                shown.push_back(rng.Chance(of_eight, 8));
                if (shown.back()) right.push_back({i, ids[i]});
            }
            const MerkleProof proof = MakeMerkleProof(ids, shown);
            const auto proven = ReadMerkleProof(proof);
            REQUIRE(proven);
            CHECK(proven->root == MerkleRoot(ids).root);
            CHECK(proven->txs == right);
            if (right.size() <= 1) CHECK(proof.hashes.size() <= 8);
        }
    }
}

TEST_CASE("a proof that is changed shows nothing of that block", "[merkle_proof]")
{
    auto& rng = TestRng();
    for (int round = 0; round < 500; ++round) {
        const size_t count = 1 + rng.Below(40);
        const std::vector<Uint256> ids = RandomIds(count);
        std::vector<bool> shown(count);
        for (size_t i = 0; i < count; ++i) shown[i] = rng.Chance(1, 3);
        const MerkleProof good = MakeMerkleProof(ids, shown);
        MerkleProof bad = good;
        switch (rng.Below(5)) {
        case 0: bad.hashes[rng.Below(bad.hashes.size())].data()[rng.Below(32)] ^= 1; break;
        case 1: bad.hashes.push_back(ids[0]); break;
        case 2: bad.hashes.pop_back(); break;
        case 3: bad.flags.push_back(0); break;
        default: bad.tx_count = static_cast<uint32_t>(rng.Below(2) ? 0 : 16'667);
        }
        const auto proven = ReadMerkleProof(bad);
        CHECK((!proven || proven->root != MerkleRoot(ids).root));
    }
}

// CVE-2012-2459: the last of an odd number is hashed with itself, so that a longer list, in which
// it comes twice, has the same root.
TEST_CASE("a proof with a transaction that comes twice is refused", "[merkle_proof]")
{
    std::vector<Uint256> ids = RandomIds(3);
    ids.push_back(ids[2]);
    CHECK_FALSE(ReadMerkleProof(MakeMerkleProof(ids, {false, false, true, true})));
    ids.pop_back();
    CHECK(ReadMerkleProof(MakeMerkleProof(ids, {false, false, true})));
}

} // namespace ibd::test
