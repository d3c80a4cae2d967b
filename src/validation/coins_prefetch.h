// CoinsPrefetch: reads the coins that a block spends into the cache, on several threads. Owned by
// the ChainManager, under its state lock; owns the threads.
#pragma once

#include "primitives/block.h"
#include "validation/coins_cache.h"

namespace ibd {

class CoinsPrefetch {
public:
    /** `threads`: including the caller's. */
    explicit CoinsPrefetch(size_t threads) : m_pool("prevout", threads > 1 ? threads - 1 : 0) {}

    /** `block` has a coinbase. */
    Result<> Read(const BlockView& block, CoinsCache& cache);

private:
    ThreadPool m_pool;
};

} // namespace ibd
