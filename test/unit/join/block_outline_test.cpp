// Outlines of blocks: they are read back unchanged, and accept a block's coins exactly if
// BlockSpendRules accepts the block itself. The exception is a block with possibly too many
// signature operations, as an outline has only a bound of their number.
#include "join/block_outline.h"

#include "consensus/sigops.h"
#include "random_block.h"
#include "storage/undo.h"

using namespace ibd;
using namespace ibd::test;

namespace {

BlockOutline Recoded(const BlockOutline& outline)
{
    Bytes encoded;
    outline.Encode(encoded);
    BlockOutline out;
    REQUIRE(out.Decode(encoded));
    Bytes again;
    out.Encode(again);
    REQUIRE(again == encoded);
    for (size_t size = 0; size < encoded.size(); ++size) {
        BlockOutline cut;
        REQUIRE(
            (!cut.Decode(ByteSpan(encoded).first(size)) || cut.Txs().size() == out.Txs().size()));
    }
    encoded.push_back(0);
    REQUIRE_FALSE(BlockOutline().Decode(encoded));
    return out;
}

} // namespace

TEST_CASE("An outline says that a block keeps the rules exactly when it does", "[outline]")
{
    const ConsensusParams params = MakeChainParams(Network::kRegtest).consensus;
    const Branch branch;
    int kept = 0, broken = 0, unclear = 0;
    for (int round = 0; round < 4'000; ++round) {
        const RandomBlock block(params);
        const Frozen txs(block.txs);
        std::vector<Bytes> encoded;
        for (const Coin& coin : block.coins) {
            AppendSpentCoin(encoded.emplace_back(), coin.value, coin.script, coin.height,
                            coin.coinbase);
        }
        const std::vector<ByteSpan> spent(encoded.begin(), encoded.end());
        int64_t most_sigops = 0;
        for (const TxView& tx : txs.views) most_sigops += MostSigOpCost(tx);
        BlockOutline taken;
        taken.TakeAll(txs.views);
        BlockOutline outline = Recoded(taken);
        REQUIRE(outline.Inputs() == block.coins.size());
        const bool is_broken = IsBroken(branch.Tip(), params, txs.views, block.coins);
        const bool keeps = outline.KeepsRules(branch.Tip(), params, spent);
        CAPTURE(round, most_sigops);
        if (most_sigops > kMaxBlockSigOpsCost) {
            REQUIRE_FALSE(keeps);
            ++unclear;
        } else {
            REQUIRE(keeps == !is_broken);
            ++(keeps ? kept : broken);
        }
        BlockOutline counts;
        counts.TakeCounts(txs.views);
        REQUIRE_FALSE(Recoded(counts).KeepsRules(branch.Tip(), params, spent));
    }
    CAPTURE(kept, broken, unclear);
    CHECK(kept > 500);
    CHECK(broken > 500);
    CHECK(unclear > 20);
}

TEST_CASE("A transaction never has more signature operations than the bound", "[outline]")
{
    const ConsensusParams params = MakeChainParams(Network::kRegtest).consensus;
    const ScriptFlags all = kVerifyP2sh | kVerifyWitness | kVerifyTaproot;
    int reached = 0;
    for (int round = 0; round < 2'000; ++round) {
        const RandomBlock block(params);
        const Frozen txs(block.txs);
        std::span<const Coin> coins = block.coins;
        for (const TxView& tx : txs.views) {
            std::vector<SpentCoin> spent;
            for (size_t i = 0; !tx.IsCoinbase() && i < tx.inputs.size(); ++i) {
                spent.push_back({coins[i].value, coins[i].script, 1, false});
            }
            coins = coins.subspan(spent.size());
            const int64_t cost = TransactionSigOpCost(tx, spent, all);
            REQUIRE(cost <= MostSigOpCost(tx));
            reached += cost == MostSigOpCost(tx);
        }
    }
    CHECK(reached > 100);
}
