// See block_amounts.h.
#include "index/block_amounts.h"

#include "consensus/subsidy.h"

namespace ibd {

bool IsOverwritten(const BlockHash& block, int32_t height, const ConsensusParams& params)
{
    for (const Bip30Exception& e : params.bip30_exceptions) {
        if (e.overwritten_height == height && e.overwritten_hash == block) return true;
    }
    return false;
}

BlockAmounts AmountsOf(const BlockView& block, int32_t height, const BlockUndo* undo,
                       const ConsensusParams& params)
{
    BlockAmounts sums;
    sums.subsidy = BlockSubsidy(height, params);
    if (height == 0) {
        sums.genesis = sums.subsidy;
        return sums;
    }
    const auto txs = block.Txs();
    for (size_t i = 0; i < txs.size(); ++i) {
        if (i == 0 && IsOverwritten(block.Hash(), height, params)) {
            sums.repeated = sums.subsidy;
            continue;
        }
        for (const OutputView& output : txs[i].outputs) {
            Amount& sum = IsUnspendable(output.script_pubkey) ? sums.scripts
                          : i == 0                            ? sums.coinbase
                                                              : sums.others;
            sum += output.value;
        }
        if (i == 0) continue;
        for (const Coin& coin : undo->txs[i - 1].spent) sums.prevouts += coin.value;
    }
    sums.unclaimed =
        sums.prevouts + sums.subsidy - sums.others - sums.coinbase - sums.repeated - sums.scripts;
    return sums;
}

} // namespace ibd
