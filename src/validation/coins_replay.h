// CoinsReplay: completes a write of the coins that a crash interrupted, from the blocks: undoes the
// blocks of the old branch, and applies those of the new one. Used once, at start, by the
// ChainManager.
#pragma once

#include "storage/coins_db.h"
#include "validation/chain_view.h"
#include "validation/coins_cache.h"

namespace ibd {

class CoinsReplay {
public:
    /** All arguments outlive it; `cache` is over `coins`. */
    CoinsReplay(const ChainView& chain, CoinsDb& coins, CoinsCache& cache)
        : m_chain(chain), m_coins(coins), m_cache(cache)
    {
    }

    /** `heads`: of the database, new block and old block. Writes the coins of the new one. */
    Result<> Complete(const std::vector<BlockHash>& heads);

private:
    Result<> TakeBack(const HeaderNode& node);
    Result<> Apply(const HeaderNode& node);

    const ChainView& m_chain;
    CoinsDb& m_coins;
    CoinsCache& m_cache;
};

} // namespace ibd
