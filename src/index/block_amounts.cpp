// See block_amounts.h.
#include "index/block_amounts.h"

#include "consensus/script_flags.h"
#include "consensus/subsidy.h"

namespace ibd {

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
        if (i == 0 && IsBip30Unspendable(height, block.Hash(), params)) {
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
