// BlockAmounts: the amounts by which a block changes the total of all coins, as gettxoutsetinfo
// shows them and -coinstatsindex sums them up. Pure.
#pragma once

#include "consensus/params.h"
#include "primitives/block.h"
#include "storage/undo.h"

namespace ibd {

struct BlockAmounts {
    Amount subsidy = 0;
    Amount prevouts = 0, coinbase = 0, others = 0;
    Amount genesis = 0, repeated = 0, scripts = 0, unclaimed = 0;
    Amount Unspendable() const { return genesis + repeated + scripts + unclaimed; }
};

/** `undo`: null for genesis. */
BlockAmounts AmountsOf(const BlockView& block, int32_t height, const BlockUndo* undo,
                       const ConsensusParams& params);

} // namespace ibd
