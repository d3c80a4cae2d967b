// The assume-valid gate: each condition alone keeps scripts on.
#include "chain/assume_valid.h"
#include "chain_data.h"
#include "consensus/pow.h"

#include <limits>

using namespace ibd;
using namespace ibd::test;

TEST_CASE("scripts are skipped only deep below the best header on the assumed-valid branch")
{
    HeaderTree tree(ParamsOf(Network::kRegtest));
    std::vector<HeaderNode*> chain{tree.Genesis()};
    for (uint32_t i = 1; i <= 3000; ++i) chain.push_back(Grow(tree, chain.back(), i));
    HeaderNode* stale = Grow(tree, chain[899], 99'999);
    const BlockHash assumed = chain[1500]->hash;
    const Arith256 work = chain[2000]->chain_work;
    const auto gate = [&](const HeaderNode* block, const BlockHash& hash, const Arith256& least) {
        return ScriptCheckFor(tree, *block, hash, least);
    };
    using R = ScriptCheckReason;
    CHECK(gate(chain[1], assumed, work) == R::kSkip);
    CHECK(gate(chain[1500], assumed, work) == R::kTooRecent); // 1500 blocks above, 2016 needed
    // 2016 blocks are exactly two weeks, which is not more than two weeks.
    CHECK(gate(chain[984], assumed, work) == R::kTooRecent);
    CHECK(gate(chain[983], assumed, work) == R::kSkip);
    CHECK(gate(chain[1], {}, work) == R::kAssumeValidOff);
    CHECK(gate(chain[1], BlockHash(std::array<uint8_t, 32>{7}), work) == R::kHashNotInHeaders);
    CHECK(gate(chain[1501], assumed, work) == R::kAboveAssumeValid);
    CHECK(gate(stale, assumed, work) == R::kNotInAssumeValid);
    CHECK(gate(stale, stale->hash, work) == R::kNotInBestHeader);
    CHECK(gate(chain[1], assumed, chain[3000]->chain_work) == R::kSkip);
    CHECK(gate(chain[1], assumed, chain[3000]->chain_work + Arith256(1)) == R::kBestHeaderLowWork);
}

TEST_CASE("blocks are known to be valid up to where their chain leaves the known block's")
{
    HeaderTree tree(ParamsOf(Network::kRegtest));
    std::vector<HeaderNode*> chain{tree.Genesis()};
    for (uint32_t i = 1; i <= 3000; ++i) chain.push_back(Grow(tree, chain.back(), i));
    CHECK(KnownHeight(tree, *chain[3000], {}) == 0);
    CHECK(KnownHeight(tree, *chain[3000], BlockHash(std::array<uint8_t, 32>{7})) == 0);
    const BlockHash known = chain[500]->hash;
    CHECK(KnownHeight(tree, *chain[3000], known) == 500);
    CHECK(KnownHeight(tree, *chain[500], known) == 500);
    CHECK(KnownHeight(tree, *chain[499], known) == 499); // the known block is above
    CHECK(KnownHeight(tree, *Grow(tree, chain[99], 99'999), known) == 99);
}

TEST_CASE("equivalent time is work over the rate of the tip")
{
    HeaderTree tree(ParamsOf(Network::kMain));
    const ConsensusParams& consensus = ParamsOf(Network::kMain).consensus;
    HeaderNode* easy = Grow(tree, tree.Genesis(), 1, 0x1d00ffff);
    HeaderNode* hard = Grow(tree, easy, 2, 0x1c00ffff); // 256 times the work
    CHECK(BlockProofEquivalentTime(*easy, *tree.Genesis(), *easy, consensus) == 600);
    CHECK(BlockProofEquivalentTime(*hard, *easy, *hard, consensus) == 600);
    const int64_t forward = BlockProofEquivalentTime(*hard, *easy, *easy, consensus);
    CHECK(forward >= 600 * 256);
    CHECK(forward < 600 * 257);
    CHECK(BlockProofEquivalentTime(*easy, *hard, *easy, consensus) == -forward);
    CHECK(BlockProofEquivalentTime(*hard, *hard, *hard, consensus) == 0);
    // More than 2^63 seconds are cut off, in both directions.
    HeaderNode* hardest = Grow(tree, hard, 3, 0x0b000001);
    const int64_t most = std::numeric_limits<int64_t>::max();
    CHECK(BlockProofEquivalentTime(*hardest, *hard, *easy, consensus) == most);
    CHECK(BlockProofEquivalentTime(*hard, *hardest, *easy, consensus) == -most);
}
